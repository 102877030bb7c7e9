import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { GpufareError } from './errors.ts'
import { readLog } from './log-files.ts'
import { readProgress } from './logs/index.ts'
import type { RunProgress } from './logs/run-progress.ts'
import { askProgram, ProgramNotFound } from './programs.ts'
import { type Handover, type Placed, placeText } from './schedulers/index.ts'
import { Steadiness } from './steadiness.ts'

type Environment = Readonly<Record<string, string | undefined>>

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
/** Slurm's programs answer within seconds, or the controller is away. */
const answerMilliseconds = 60_000

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

/** Submits a batch script as a probe; `logOf` says where its output goes by its number. Throws GpufareError where sbatch does not take it. */
export async function submitProbe(handover: Handover, logOf: (id: string) => string): Promise<Probe & { id: string }> {
  const { environment } = handover.manifest
  const placed: Placed = placeText(handover)
  const { program, arguments: words, input } = handover.scheduler.submission(placed.manifest)
  // A log that Python holds back tells nothing meanwhile.
  const asking = { environment: { PYTHONUNBUFFERED: '1', ...environment }, timeoutMilliseconds: answerMilliseconds }
  const answer = await askProgram(program, words, { ...asking, ...(input !== undefined && { input }) })
    .catch(error => {
      throw error instanceof ProgramNotFound ? error.withHint(handover.scheduler.whenMissing) : error
    })
    .finally(placed.remove)
  const id = /^(\d+)(?:;|$)/m.exec(answer.stdout)?.[1]
  if (id === undefined || answer.exitCode !== 0)
    throw new GpufareError(`sbatch did not take the probe: ${answer.stderr.trim() || answer.stdout.trim()}`, 1)
  return {
    id,
    log: logOf(id),
    state: async () => stateOf(await askProgram('squeue', ['-h', '-j', id, '-o', '%T'], asking)),
    stop: async () => {
      const { exitCode, stderr } = await askProgram('scancel', [id], asking)
      if (exitCode !== 0) throw new GpufareError(`scancel ${id} failed: ${stderr.trim()}; end the probe yourself`, 1)
    },
  }
}

/** squeue no longer knows a job some minutes after its end, and says so with an exit code; other failures may pass. */
function stateOf({ exitCode, stdout, stderr }: Awaited<ReturnType<typeof askProgram>>): 'waiting' | 'running' | 'over' {
  const state = stdout.trim().split('\n')[0] ?? ''
  if (exitCode !== 0) return /invalid job id/i.test(stderr) ? 'over' : 'running'
  if (state === 'PENDING' || state === 'CONFIGURING') return 'waiting'
  return state === '' ||
    /^(?:COMPLETED|FAILED|CANCELLED|TIMEOUT|OUT_OF_MEMORY|NODE_FAIL|BOOT_FAIL|DEADLINE|PREEMPTED)/.test(state)
    ? 'over'
    : 'running'
}

/** Runs a command on this machine as a probe, for so many seconds at most. */
export function startProbe(
  words: readonly string[],
  log: string,
  limitSeconds: number,
  environment: Environment,
): Probe {
  let isOver = false
  const ending = new AbortController()
  const running = askProgram('/bin/sh', ['-c', 'exec "$@" > "$0" 2>&1', log, ...words], {
    environment: { PYTHONUNBUFFERED: '1', ...environment },
    timeoutMilliseconds: limitSeconds * 1_000,
    graceMilliseconds: answerMilliseconds / 6,
    signal: ending.signal,
  }).finally(() => {
    isOver = true
  })
  return {
    log,
    state: async () => (isOver ? 'over' : 'running'),
    stop: async () => {
      ending.abort()
      await running
    },
  }
}
