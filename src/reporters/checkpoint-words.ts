import { type Fare, requestedQuotes } from '../fare.ts'
import { isSpot } from '../prices/price-source.ts'
import { countOf, formatDuration } from '../units.ts'
import type { Checkpointing, Workload } from '../workload.ts'
import { isLostWithNode } from '../workloads/lost-folders.ts'

/** What a run keeps for an interruption, in a line; what is not said is named where the job may be interrupted. */
export function describeCheckpoints(workload: Workload, fare: Fare): string | undefined {
  if (workload.purpose !== 'train') return undefined
  const { checkpoint = {} } = workload
  const declared = fare.job.declarations.checkpointIntervalSeconds
  const interval =
    declared === undefined ? intervalOf(checkpoint) : `every ${formatDuration(declared.value)}, as declared`
  const isAtRisk = mayBeInterrupted(fare)
  const isSaid = interval !== undefined || checkpoint.destination !== undefined || checkpoint.resumes !== undefined
  if (!isSaid) return isAtRisk ? 'checkpoints: nothing says that any are saved' : undefined
  const role = fare.job.roles.find(({ name }) => name === workload.role)
  const folder = checkpoint.destination?.value
  return `checkpoints: ${[
    interval ?? (isAtRisk ? 'how often is not said' : undefined),
    folder === undefined
      ? isAtRisk
        ? 'where to is not said'
        : undefined
      : `to ${folder}${isLostWithNode(folder, role) ? ', lost with the node' : ''}`,
    checkpoint.content?.value === 'weights' ? 'weights alone' : undefined,
    checkpoint.resumes === undefined
      ? isAtRisk
        ? 'nothing says that a restart goes on from them'
        : undefined
      : checkpoint.resumes.value
        ? 'a restart goes on from the last'
        : 'a restart begins anew',
  ]
    .filter(part => part !== undefined)
    .join(', ')}`
}

function intervalOf({ intervalSteps, intervalSeconds, intervalEpochs }: Checkpointing): string | undefined {
  const interval = intervalSteps ?? intervalSeconds ?? intervalEpochs
  const remark = interval?.origin.kind === 'assumed' ? ' by default' : ''
  if (intervalSteps !== undefined) return `every ${countOf(intervalSteps.value, 'step')}${remark}`
  if (intervalSeconds !== undefined) return `every ${formatDuration(intervalSeconds.value)}${remark}`
  return intervalEpochs === undefined ? undefined : `every ${countOf(intervalEpochs.value, 'epoch')}${remark}`
}

/** On machines that can be taken away, or told to start again. */
function mayBeInterrupted(fare: Fare): boolean {
  const restarts = fare.job.warnings.some(({ code }) => code === 'retries-multiply-cost')
  return restarts || requestedQuotes(fare).some(({ tier }) => isSpot(tier))
}
