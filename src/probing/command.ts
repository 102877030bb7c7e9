import { askProgram } from '../programs.ts'
import { answerMilliseconds, type Probe } from './follow.ts'

/** Runs a command on this machine as a probe, for so many seconds at most. */
export function startProbe(
  words: readonly string[],
  log: string,
  limitSeconds: number,
  environment: Readonly<Record<string, string | undefined>>,
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
