import packageJson from '../../package.json' with { type: 'json' }
import { hashOf } from '../hash.ts'
import { isTelling, maskedName } from '../history/names.ts'
import type { Job } from '../job.ts'
import type { Workload } from '../workload.ts'
import type { Basis } from './runtime-model.ts'

/**
 * What an estimate of a script is recognised by, whatever is edited or counted on in it; undefined where its name says nothing, or where
 * the basis is no estimate that can be wrong by the same factor again. Another declaration, and the formulas of another version of
 * gpufare, err anew.
 */
export function fingerprintOf(job: Job, workloads: readonly Workload[], basis: Basis): string | undefined {
  if (!isTelling(job.name) || basis === 'history' || basis === 'limit') return undefined
  const workload = workloads.find(each => each.purpose === 'train' || each.purpose === 'infer')
  const { runtime, throughput } = job.declarations
  return hashOf(
    JSON.stringify([
      job.scheduler,
      maskedName(job.name),
      workload?.framework?.value,
      workload?.modelName?.value,
      basis === 'declared' ? [runtime?.value, throughput?.value] : [basis, packageJson.version],
    ]),
  )
}
