import { columnKey, nameRuns, runOfCells, tellStates } from './columns.ts'
import { quotedRows } from './quoted-csv.ts'
import type { RunFormat } from './run-format.ts'

/** A CSV file with a head line: gpufare's own runs.csv, an export of W&B, or whatever names its columns plainly. */
export const csvRuns: RunFormat = {
  name: 'CSV',
  accepts: ([file]) => file !== undefined && nameRuns(quotedRows(file.text.split(/\r?\n/, 1)[0] ?? '')[0] ?? []),
  read([file]) {
    const [head = [], ...rows] = quotedRows(file?.text ?? '')
    const keys = head.map(columnKey)
    const runs = rows.map(cells => runOfCells(new Map(keys.map((key, index) => [key, cells[index] ?? '']))))
    const known = runs.filter(run => run !== undefined)
    return { runs: known, skipped: rows.length - known.length, ...(!tellStates(head) && { lacksStates: true }) }
  },
}
