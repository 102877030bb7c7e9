import { findStamp } from './clock.ts'
import type { ProgressWarningCode } from './progress-warning.ts'
import type { LogRecord } from './records.ts'

/** How a run ended, as far as its log shows. */
export type Outcome = 'finished' | 'running' | 'time-limit' | 'oom' | 'crashed' | 'cancelled' | 'unknown'

/** An ending that a log shows. */
export interface Ending {
  readonly outcome: Outcome
  readonly line: number
  readonly code?: ProgressWarningCode
  readonly text?: string
}

interface Sign {
  readonly pattern: RegExp
  readonly outcome: Outcome
  readonly code?: ProgressWarningCode
}

/** Words of schedulers, drivers and Python at the end of a run, the weightiest first: what ended it stands above what followed from it. */
const signs: readonly Sign[] = [
  {
    pattern:
      /DUE TO TIME LIMIT|DeadlineExceeded|walltime \d+ exceeded limit|TERM_RUNLIMIT|job killed: walltime|exceeded the (?:wall ?clock|run) (?:time )?limit/i,
    outcome: 'time-limit',
    code: 'killed-by-time-limit',
  },
  {
    pattern:
      /(?:CUDA|HIP|XPU) out of memory|(?<!ray\.exceptions\.)OutOfMemoryError|RESOURCE_EXHAUSTED.*(?:out of memory|allocat)|CUDA_ERROR_OUT_OF_MEMORY|CUDNN_STATUS_ALLOC_FAILED|CUBLAS_STATUS_ALLOC_FAILED|cudaErrorMemoryAllocation|cudaMalloc failed: out of memory|OOM when allocating tensor|Out of memory error on GPU/i,
    outcome: 'oom',
    code: 'out-of-memory',
  },
  {
    pattern:
      /oom[-_]kill event|Out Of Memory$|OOMKilled|is killed by signal: Killed|TERM_MEMLIMIT|exceeded memory limit|Exceeded job memory|: Killed\s*$|^Killed\s*$|exitcode: -9\b|DefaultCPUAllocator: (?:can't|not enough)|\bMemoryError\b|killed due to memory pressure|\bray\.exceptions\.OutOfMemoryError|std::bad_alloc/,
    outcome: 'oom',
    code: 'host-out-of-memory',
  },
  {
    pattern:
      /CANCELLED AT .*(?:DUE TO (?:PREEMPTION|NODE FAILURE|JOB REQUEUE)|\*\*\*)|^KeyboardInterrupt\b|Received SIGTERM|bypassing sigterm|TERM_OWNER|TERM_PREEMPT|exiting program after receiving SIG|Received SIGINT|got signal 15|^Terminated\s*$|Detected KeyboardInterrupt/i,
    outcome: 'cancelled',
    code: 'cancelled',
  },
  {
    pattern:
      /^\s*Traceback \(most recent call last\)|Exited with exit code [1-9]|ChildFailedError|Segmentation fault|Fatal (?:error|Python error)|Watchdog caught collective operation timeout|^\S+: error: |core dumped|Command exited with non-zero status|^\s*Exit status: [1-9]|returned non-zero exit status|^ERROR on proc \d|FATAL ERROR|Ended \(code [1-9]/,
    outcome: 'crashed',
    code: 'crashed',
  },
]

/** The weightiest sign of an ending behind a line; what stands in front of further progress ended nothing. */
export function endingBehind(line: number, records: readonly LogRecord[]): Ending | undefined {
  const behind = records.filter(record => record.line >= line)
  for (const { pattern, outcome, code } of signs) {
    const found = behind.find(record => pattern.test(record.text))
    if (found !== undefined)
      return { outcome, line: found.line, ...(code !== undefined && { code }), text: found.text.trim() }
  }
  return undefined
}

/** Signs of a job that came to its own end, whatever it ran. */
const successes =
  /^\s*Exit status: 0\b|# Ended \(code 0\)|\bTraining (?:is )?(?:completed|complete|finished|done)\b|^wandb: (?:Synced \d|🚀 View run|.*View run .* at:)|^(?:real|user)\s+\d+m[\d.]+s|\b(?:finished|completed|done) training\b|^(?:\[?rank ?\d+\]?:? )?(?:all )?done[.!]?\s*$|\bJob finished\b|Training took\b|Total training time|training completed/i

/** Line behind `line` that says the job came to its end. */
export function successBehind(line: number, records: readonly LogRecord[]): number | undefined {
  return records.find(record => record.line >= line && successes.test(record.text))?.line
}

/** The clock of the scheduler's word that it ended a run. */
export function endedAtSeconds(records: readonly LogRecord[]): number | undefined {
  const killed = records.findLast(({ text }) => /CANCELLED AT/.test(text))
  return killed === undefined ? undefined : findStamp(killed.text)?.seconds
}
