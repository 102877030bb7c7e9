import { ownEntry } from '../own-entry.ts'
import { columnKey, runOfCells } from './columns.ts'
import type { RunFormat } from './run-format.ts'
import { parseJson } from './sacct-json.ts'

/**
 * Runs as W&B's public API gives them, a JSON list or one object a line: the runtime is `_runtime` of the summary (or `_wandb.runtime`), the
 * GPUs are those of the metadata. Its CSV export is read as any CSV.
 */
export const wandb: RunFormat = {
  name: 'W&B',
  accepts: ([file]) => file !== undefined && /^\s*[[{]/.test(file.text) && /"_?runtime"\s*:/.test(file.text),
  async read([file]) {
    const { WandbRun } = await import('./schema.ts')
    const items = itemsOf(file?.text ?? '', file?.path ?? '')
    const runs = items.map(item => {
      const parsed = WandbRun.safeParse(item)
      if (!parsed.success) return undefined
      const cells = new Map<string, string>()
      for (const [path, value] of scalarsOf(parsed.data, [])) {
        const key = columnKey(path.at(-1) ?? '')
        if (path.length === 1 || deepKeys.includes(key)) cells.set(ownEntry(renamed, key) ?? key, value)
      }
      return runOfCells(cells)
    })
    const known = runs.filter(run => run !== undefined)
    return { runs: known, skipped: items.length - known.length }
  },
}

/** What counts at whatever depth: the summary's, the metadata's and the user's. */
const deepKeys = ['runtime', 'gpucount', 'gpu', 'username']

const renamed: Readonly<Record<string, string>> = { displayname: 'name', createdat: 'created' }

function itemsOf(text: string, path: string): readonly unknown[] {
  if (/^\s*\[/.test(text)) {
    const list = parseJson(text, path)
    return Array.isArray(list) ? list : []
  }
  const lines = text.split('\n').filter(line => line.trim() !== '')
  return lines.length > 1 && lines.every(line => line.startsWith('{'))
    ? lines.map(line => parseJson(line, path))
    : [parseJson(text, path)]
}

function* scalarsOf(value: unknown, path: readonly string[]): Generator<readonly [readonly string[], string]> {
  if (typeof value === 'string' || typeof value === 'number') yield [path, String(value)]
  else if (typeof value === 'object' && value !== null && path.length < 4) {
    for (const [key, each] of Object.entries(value)) yield* scalarsOf(each, [...path, key])
  }
}
