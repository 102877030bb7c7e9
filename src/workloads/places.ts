import { baseName } from '../launchers.ts'
import { type Sourced, withoutAbsent } from '../sourced.ts'
import type { Workload } from '../workload.ts'

/** What runs call the folders of their outcomes, whatever was trained. */
const OUTCOME =
  /^((global_?)?(checkpoint|ckpt|step|epoch|iter|version)[-_=]?\d*|\d+|best|last|latest|final|output|outputs|out|merged|model|hf|weights)$/i

/** Where something lies is not what it is called: the folder of a data set, the checkpoint of another run, a description of a network. */
export function withoutPlaces(workload: Workload): Workload {
  const { dataset, modelName, ...others } = workload
  return {
    ...others,
    ...withoutAbsent({
      dataset: dataset && isDataFile(dataset) ? undefined : dataset,
      modelName: modelName && isOutcome(modelName) ? undefined : modelName,
    }),
  }
}

function isDataFile({ value }: Sourced<string>): boolean {
  // Of a mixture the files are told along with the names.
  if (value.includes(', ')) return false
  return (
    isPath(value) || (value.includes('/') && /\.(jsonl?|csv|tsv|txt|parquet|arrow|bin|pt|h5|lmdb|ya?ml)$/.test(value))
  )
}

function isOutcome({ value }: Sourced<string>): boolean {
  return isPath(value) && (OUTCOME.test(baseName(value.replace(/\/+$/, ''))) || /\.(json|ya?ml|py)$/.test(value))
}

function isPath(value: string): boolean {
  return /^(\.{0,2}\/|[~$])/.test(value)
}
