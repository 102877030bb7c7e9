import type { CommandLine } from '../command-lines.ts'
import { type Dataset, type DatasetTable, datasetOfFolder, findDataset } from '../dataset.ts'
import { type Origin, type Sourced, sourced } from '../sourced.ts'
import { formatCount } from '../units.ts'
import type { Warning } from '../warning.ts'
import type { Workload } from '../workload.ts'
import { type Flags, findFlag, known, readBoolean, readFlags, textFlag } from './flags.ts'
import type { WorkloadReading } from './workload-reader.ts'

const TABLE = 'datasets.csv'

/** Flags by which a program takes only part of a data set, or leaves some of it out. */
const PART =
  /(^|[.-])(max-(train-)?(samples|examples|files)|(train-)?subset(-\w+)?|fraction|limit-train-batches|overfit-batches|(num|n)-samples|(train-)?sample-ratio|data-(percent|ratio|fraction)|shard(-id)?|filter(-by)?-\w+|debug|dry-run|smoke-test|streaming)$/

/** Flags that name the part itself: `train`, `train[:10%]`. */
const SPLITS = ['dataset-split', 'train-split', 'split', 'dataset-train-split', 'train-split-name', 'split-name']

/**
 * What the table of public data sets knows of the one a run names: the samples, or the tokens of its text. Nobody said
 * that all of it is trained on, so these are assumed, as is a name that only stands in a path.
 */
export function withPublicData(
  workload: Workload,
  { epochOf, dataFolder }: WorkloadReading,
  commandLine: CommandLine,
  table: DatasetTable,
): Workload {
  if (workload.purpose !== 'train') return workload
  const flags = readFlags(commandLine)
  const named = workload.dataset && findDataset(workload.dataset.value, configurationOf(flags), table)
  const hinted = workload.dataset === undefined && dataFolder ? datasetOfFolder(dataFolder.value, table) : undefined
  const kept: Workload =
    hinted && dataFolder
      ? { ...workload, dataset: sourced(hinted.name, namedLike(dataFolder)) }
      : withoutEnding(workload, named)
  const dataset = named ?? hinted
  const share = shareOf(flags)
  if (dataset === undefined || epochOf === undefined || share === undefined || saysLength(kept)) return kept
  return epochOf === 'samples' ? withSamples(kept, dataset, share) : withTokens(kept, dataset, share)
}

/** Says that a run's length rests on a table, and which row. */
export function explainPublicData({ samples, tokens, place }: Workload): Warning[] {
  return [samples, tokens]
    .flatMap((value): Warning[] => {
      if (value?.origin.kind !== 'assumed' || !value.origin.reason.includes(TABLE)) return []
      const text = `how much of the data is used is not said; taken is ${value.origin.reason}`
      return [{ code: 'assumed', text, place }]
    })
    .slice(0, 1)
}

/** `coco.yaml` is the description of a data set, `coco` the data set. */
function withoutEnding(workload: Workload, named: Dataset | undefined): Workload {
  const { dataset } = workload
  if (named === undefined || dataset === undefined || !/\.ya?ml$/.test(dataset.value)) return workload
  return { ...workload, dataset: sourced(named.name, dataset.origin) }
}

function namedLike(folder: Sourced<string>): Origin {
  return { kind: 'assumed', reason: `it lies in ${folder.value}` }
}

function saysLength({ steps, samples, tokens, epochs }: Workload): boolean {
  return (steps ?? samples ?? tokens) !== undefined || epochs === undefined
}

function withSamples(workload: Workload, { name, samples, source }: Dataset, share: Share): Workload {
  if (samples === undefined) return workload
  const reason = `${share.words} of ${name}, ${formatCount(samples)} samples (${TABLE}: ${source})`
  return { ...workload, samples: sourced(share.of(samples), { kind: 'assumed', reason }) }
}

function withTokens(workload: Workload, { name, tokens, source }: Dataset, share: Share): Workload {
  const { epochs } = workload
  if (tokens === undefined || epochs === undefined) return workload
  const whole = `${share.words} of ${name}, ${formatCount(tokens.count)} tokens of ${tokens.tokenizer}`
  const reason = `${epochs.value} epochs over ${whole} (${TABLE}: ${source})`
  const count = Math.round(share.of(tokens.count) * epochs.value)
  return { ...workload, tokens: sourced(count, { kind: 'assumed', reason }) }
}

/** The part of a data set that a run takes. */
interface Share {
  readonly words: string
  of(whole: number): number
}

/** `train[:10%]` and `train[:5000]` as `datasets` reads them; undefined where it is not known which part it is. */
function shareOf(flags: Flags): Share | undefined {
  const takesPart = flags.list.some(({ name, value }) => PART.test(name) && readBoolean(value?.text) !== false)
  const split = textFlag(flags, SPLITS)
  if (takesPart || split === 'unknown') return undefined
  const written = split?.value ?? 'train'
  if (/^train(ing)?$/.test(written)) return { words: 'the training split', of: whole => whole }
  const [, count = '', percent] = /^train\[:(\d+)(%?)\]$/.exec(written) ?? []
  if (count === '') return undefined
  return {
    words: written,
    of: whole => Math.min(whole, percent === '%' ? Math.round((whole * Number(count)) / 100) : Number(count)),
  }
}

function configurationOf(flags: Flags): string | undefined {
  const names = ['dataset-config-name', 'dataset-config', 'dataset-name-config', 'dataset-subset']
  return findFlag(flags, names) === undefined ? undefined : (known(textFlag(flags, names))?.value ?? 'unknown')
}
