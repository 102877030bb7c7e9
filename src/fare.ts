import type { Candidate } from './candidates.ts'
import type { Job } from './job.ts'
import type { Tier } from './prices/price-source.ts'
import type { Quote } from './quote.ts'
import { formatDuration } from './units.ts'
import type { Warning } from './warning.ts'
import type { Workload } from './workload.ts'

/** A job with what it computes and what that takes and costs on each candidate; as written comes first. */
export interface Fare {
  readonly job: Job
  readonly workloads: readonly Workload[]
  readonly quotes: readonly Quote[]
  readonly warnings: readonly Warning[]
}

/** The quotes of the job as written; several where the manifest leaves the GPU type open. Spot rows are offers, not requests. */
export function requestedQuotes(fare: Fare): readonly Quote[] {
  const asWritten = fare.quotes.filter(quote => quote.candidate.asRequested)
  const firm = asWritten.filter(quote => quote.tier !== 'spot')
  return firm.length > 0 ? firm : asWritten
}

/** Whether a candidate can run the job, as far as is known. */
export function canRun(candidate: Candidate): boolean {
  return candidate.obstacles.length === 0
}

/** The tiers a candidate is quoted at: its own rate or on-demand, and spot in a row of its own. */
export function tiersOf(candidate: Candidate): readonly Tier[] {
  return candidate.asRequested ? ['on-demand', 'spot'] : ['on-demand']
}

/** What only the quotes show: a run that its own time limit would cut off. */
export function warningsOf(job: Job, quotes: readonly Quote[]): readonly Warning[] {
  const runtime = quotes.find(quote => quote.candidate.asRequested)?.runtime
  if (runtime === undefined || runtime.basis === 'limit') return []
  return job.roles.flatMap(role => {
    const limit = role.timeLimitSeconds
    if (limit === undefined || runtime.seconds.p50 <= limit.value) return []
    return [
      {
        code: 'time-limit-too-short-to-judge' as const,
        text: `the run needs about ${formatDuration(runtime.seconds.p50)}, the time limit stops it after ${formatDuration(limit.value)}: this job is one part of it`,
      },
    ]
  })
}
