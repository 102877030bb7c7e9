import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readLog } from '../log-files.ts'
import { readProgress } from '../logs/index.ts'
import type { RunProgress } from '../logs/run-progress.ts'
import { Steadiness } from '../steadiness.ts'

/** A program that runs for a while and writes a log. */
export interface Probe {
  readonly log: string
  /** Whether it waits, runs or is over. */
  state(): Promise<'waiting' | 'running' | 'over'>
  /** Ends it, and nothing else. */
  stop(): Promise<void>
}

/** How a probe came to its end. */
export interface Probed {
  readonly log: string
  readonly why: 'steady' | 'over' | 'interrupted'
  /** Absent where nothing was written. */
  readonly progress?: RunProgress
}

/** Between two looks; a job that waits is looked at less often, as sites ask for. */
const lookMilliseconds = 2_000
const waitMilliseconds = 10_000
/** Slurm's programs and kubectl answer within seconds, or whoever they ask is away. */
export const answerMilliseconds = 60_000

/**
 * Starts a probe and follows it until its rate is steady or it is over, and ends it however this ends: Ctrl-C and a closed terminal
 * included. `show` is told of every look.
 */
export async function followProbe(
  start: () => Promise<Probe>,
  show: (state: 'waiting' | 'running', progress: RunProgress | undefined) => void,
): Promise<Probed> {
  const interruption = new AbortController()
  const interrupt = () => interruption.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, interrupt)
  const steadiness = new Steadiness()
  let probe: Probe | undefined
  let isOver = false
  try {
    probe = await start()
    for (;;) {
      const state = await probe.state()
      const progress = readIfThere(probe.log)
      const seen = { log: probe.log, ...(progress !== undefined && { progress }) }
      isOver = state === 'over'
      if (state === 'over') return { why: 'over', ...seen }
      if (interruption.signal.aborted) return { why: 'interrupted', ...seen }
      if (progress !== undefined && steadiness.look(progress)) return { why: 'steady', ...seen }
      show(state, progress)
      const pause = state === 'waiting' ? waitMilliseconds : lookMilliseconds
      await sleep(pause, undefined, { signal: interruption.signal }).catch(() => {})
    }
  } finally {
    if (!isOver) await probe?.stop()
    for (const signal of signals) process.off(signal, interrupt)
  }
}

function readIfThere(path: string): RunProgress | undefined {
  const isThere = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
  return isThere ? readProgress(readLog(path, false), path) : undefined
}
