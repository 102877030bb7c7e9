import type { EarlierLog } from './runtimes/earlier-log.ts'
import { formatDuration } from './units.ts'
import type { Warning } from './warning.ts'

/** What the run before did not come to an end by, in words; a run that finished, or goes on, is no warning. */
const endings: Readonly<Partial<Record<EarlierLog['progress']['outcome'], string>>> = {
  oom: 'ended out of memory',
  crashed: 'ended with an error',
  'time-limit': 'was stopped by its time limit',
}

/** What the newest log warns of: a job that is submitted again as it was ends so again. */
export function warnOfLogs(logs: readonly EarlierLog[]): readonly Warning[] {
  const newest = logs.toSorted((a, b) => b.writtenSeconds - a.writtenSeconds)[0]
  // A probe is short on purpose.
  if (newest?.isProbe === true) return []
  const words = newest === undefined ? undefined : endings[newest.progress.outcome]
  if (newest === undefined || words === undefined) return []
  const { elapsedSeconds, warnings } = newest.progress
  const after = elapsedSeconds === undefined ? '' : ` after ${formatDuration(elapsedSeconds.value)}`
  const codes = ['out-of-memory', 'host-out-of-memory', 'crashed', 'killed-by-time-limit']
  const said = warnings.find(({ code }) => codes.includes(code))
  const text = `the last run ${words}${after} (${newest.file})${said === undefined ? '' : `: ${said.text}`}`
  return [{ code: 'earlier-run-stopped', text }]
}
