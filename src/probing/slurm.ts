import { GpufareError } from '../errors.ts'
import { type Answer, askProgram, ProgramNotFound } from '../programs.ts'
import { type Handover, type Placed, placeText } from '../schedulers/index.ts'
import { answerMilliseconds, type Probe } from './follow.ts'

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
function stateOf({ exitCode, stdout, stderr }: Answer): 'waiting' | 'running' | 'over' {
  const state = stdout.trim().split('\n')[0] ?? ''
  if (exitCode !== 0) return /invalid job id/i.test(stderr) ? 'over' : 'running'
  if (state === 'PENDING' || state === 'CONFIGURING') return 'waiting'
  return state === '' ||
    /^(?:COMPLETED|FAILED|CANCELLED|TIMEOUT|OUT_OF_MEMORY|NODE_FAIL|BOOT_FAIL|DEADLINE|PREEMPTED)/.test(state)
    ? 'over'
    : 'running'
}
