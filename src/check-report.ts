import type { Fault, Place } from './errors.ts'
import type { Finding } from './finding.ts'
import type { Quote } from './quote.ts'
import type { Basis, Range, Runtime } from './runtimes/runtime-model.ts'
import type { Paint } from './terminal.ts'
import type { Currency } from './units.ts'

/** Money of one job as written: a range, a bound, or neither where it is not known. US dollars. */
export interface JobMoney {
  readonly totalUsd: Range | undefined
  readonly upperBoundUsd: number | undefined
  readonly usdPerHour: number | undefined
}

/** One candidate in a line: what a gate shows of it. */
export interface CandidateLine extends JobMoney {
  readonly asRequested: boolean
  readonly gpus: string
  /** `aws p4d.24xlarge us-east-1, $21.96/h on-demand`. */
  readonly offer: string
  readonly runtimeSeconds: Range | undefined
  /** Present where only the time limit bounds it. */
  readonly runtimeUpperBoundSeconds?: number
  readonly canRun: boolean
  /** Why it cannot run, or what the trade against the job as written is. */
  readonly note?: string
}

/** What a gate keeps of one job. The fare itself is forgotten: there may be ten thousand. */
export interface CheckedJob extends JobMoney {
  readonly name: string
  readonly kind: string
  readonly place: Place
  readonly team: string | undefined
  readonly gpuCount: number
  readonly gpus: string
  readonly basis: Basis | undefined
  readonly runtimeSeconds: Range | undefined
  /** Present where only the time limit bounds it. */
  readonly runtimeUpperBoundSeconds?: number
  readonly gpuHours: Range | { readonly upperBound: number } | undefined
  /** As written, then at most three others, cheapest first. */
  readonly candidates: readonly CandidateLine[]
  readonly warnings: readonly string[]
}

/** A job against the base revision; one of both is absent where it was added or removed. */
export interface JobChange {
  readonly file: string
  /** Its file's name in the base, where it was renamed. */
  readonly renamedFrom?: string
  readonly before: CheckedJob | undefined
  readonly after: CheckedJob | undefined
  /** Difference of the medians, or of the bounds where only these are known on both sides; undefined where not known. */
  readonly differenceUsd: number | undefined
}

/** The outcome of `gpufare check`, ready to be put into words. */
export interface CheckReport {
  readonly verdict: 'pass' | 'warn' | 'deny' | 'broken' | 'unknown'
  readonly currency: Currency
  readonly filesLookedAt: number
  readonly filesWithJobs: number
  readonly jobsPriced: number
  readonly jobsUnknown: number
  readonly jobs: readonly CheckedJob[]
  readonly findings: readonly Finding[]
  readonly faults: readonly Fault[]
  /** Charts, kustomizations, templates: seen, named and not priced. */
  readonly notRendered: readonly { readonly file: string; readonly reason: string }[]
  readonly base: { readonly revision: string; readonly changes: readonly JobChange[] } | undefined
  readonly remarks: readonly string[]
}

/** Puts the outcome of a check into words; prints nothing itself. */
export interface CheckReporter {
  readonly name: string
  render(report: CheckReport, options: CheckRenderOptions): string
}

/** How a check is to be written. */
export interface CheckRenderOptions {
  readonly width: number
  readonly paint: Paint
  /** Largest text that the receiver takes, in characters; absent = no limit. */
  readonly maxCharacters?: number
}

/** The money of a quote, nothing of it known where there is none. */
export function moneyOf(quote: Quote | undefined): JobMoney {
  const cost = quote?.cost
  return {
    totalUsd: cost?.kind === 'range' ? cost.usd : undefined,
    upperBoundUsd: cost?.kind === 'bound' ? cost.upperBoundUsd : quote?.limitUsd,
    usdPerHour: quote?.usdPerHour,
  }
}

/** How long a task runs, or how long at most. */
export function timeOf(runtime: Runtime | undefined): Pick<CheckedJob, 'runtimeSeconds' | 'runtimeUpperBoundSeconds'> {
  if (runtime === undefined) return { runtimeSeconds: undefined }
  if (runtime.basis !== 'limit') return { runtimeSeconds: runtime.seconds }
  return { runtimeSeconds: undefined, runtimeUpperBoundSeconds: runtime.upperBoundSeconds }
}

/** Median or, where only that is known, upper bound, in US dollars: what jobs and revisions are compared by. */
export function comparedUsd(money: JobMoney | undefined): number | undefined {
  return money?.totalUsd?.p50 ?? money?.upperBoundUsd
}
