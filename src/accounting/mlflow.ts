import { ownEntry } from '../own-entry.ts'
import { runOfCells } from './columns.ts'
import type { RunFile, RunFormat } from './run-format.ts'

/**
 * The folder `mlruns/` of an MLflow file store: a meta.yaml for each run, with times in milliseconds and the status as a number, and
 * a file for each tag.
 */
export const mlflow: RunFormat = {
  name: 'MLflow',
  accepts: files => files.some(file => isRun(file)),
  read(files) {
    const names = new Map(
      files.filter(({ path }) => /\/tags\/mlflow\.runName$/.test(path)).map(file => [file.path, file]),
    )
    const metas = files.filter(isRun)
    const runs = metas.map(file => {
      const meta = new Map(
        Array.from(file.text.matchAll(/^(\w+): *(.*)$/gm), ([, key = '', value = '']) => [key, unquoted(value)]),
      )
      const tag = names.get(file.path.replace(/meta\.yaml$/, 'tags/mlflow.runName'))?.text.trim()
      return runOfMlflow({
        id: meta.get('run_id') ?? '',
        name: meta.get('run_name') || tag || '',
        user: meta.get('user_id') ?? '',
        status: meta.get('status') ?? '',
        start: meta.get('start_time') ?? '',
        end: meta.get('end_time') ?? '',
      })
    })
    const known = runs.filter(run => run !== undefined)
    return { runs: known, skipped: metas.length - known.length }
  },
}

/** Status of `RunStatus` in MLflow's protocol: by number in files, by word in its database. Others have not ended. */
const statuses: Readonly<Record<string, string>> = { '3': 'FINISHED', '4': 'FAILED', '5': 'KILLED' }

/** A run of MLflow's tables or files; times are milliseconds since 1970. */
export function runOfMlflow(row: Readonly<Record<'id' | 'name' | 'user' | 'status' | 'start' | 'end', string>>) {
  const status = ownEntry(statuses, row.status) ?? row.status
  // Names such as `bold-fish-42` are MLflow's own invention for a run nobody named.
  const name = /^[a-z]+-[a-z]+-\d+$/.test(row.name) ? '' : row.name
  return runOfCells(new Map([...Object.entries({ ...row, name }), ['status', status]]))
}

function isRun({ path, text }: RunFile): boolean {
  return path.endsWith('meta.yaml') && /^run_id:/m.test(text)
}

function unquoted(value: string): string {
  const trimmed = value.trim()
  if (trimmed === 'null' || trimmed === '~') return ''
  return trimmed.replace(/^(['"])(.*)\1$/, '$2')
}
