import type { EarlierLog } from './runtimes/earlier-log.ts'
import type { Runtime } from './runtimes/runtime-model.ts'
import { countOf, formatDuration } from './units.ts'
import type { Warning } from './warning.ts'

/** What the run before did not come to an end by, in words; a run that finished, or goes on, is no warning. */
const endings: Readonly<Partial<Record<EarlierLog['progress']['outcome'], string>>> = {
  oom: 'ended out of memory',
  crashed: 'ended with an error',
  'time-limit': 'was stopped by its time limit',
}

/** What the logs warn of; `runtime` is that of the job as written. */
export function warnOfLogs(logs: readonly EarlierLog[], runtime: Runtime | undefined): readonly Warning[] {
  return [...warnOfEnding(logs), ...warnOfSilence(logs, runtime)]
}

/** Logs that were read for nothing: whoever named one wants to know. */
function warnOfSilence(logs: readonly EarlierLog[], runtime: Runtime | undefined): readonly Warning[] {
  const [first, ...others] = logs
  if (first === undefined || (runtime !== undefined && runtime.basis !== 'limit')) return []
  const named = others.length === 0 ? first.file : `${first.file} and ${countOf(others.length, 'other log')}`
  const verb = others.length === 0 ? 'does' : 'do'
  const text = `${named} ${verb} not tell how long this job takes: what a run makes in all, or how fast, is not known from there`
  return [{ code: 'earlier-runs', text }]
}

/** A job that is submitted again as it was ends as it did. */
function warnOfEnding(logs: readonly EarlierLog[]): readonly Warning[] {
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
