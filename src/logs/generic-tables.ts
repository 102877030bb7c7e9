import type { LogRecord } from './records.ts'

const header = /^\s*["']?[A-Za-z_][\w /.-]*["']?(?:\s*,\s*["']?[A-Za-z_][\w /.-]*["']?){2,}\s*$/
const counted = /^(?:global_?)?(?:step|epoch|iter|iteration|update)s?$/i

/** Rows of a table whose first line names its columns, a counter among them, with those names: `epoch: 3, step: 1563, loss: 0.4`. */
export function namedColumns(records: readonly LogRecord[]): readonly LogRecord[] {
  const [first] = records
  if (first === undefined || !header.test(first.text)) return records
  const names = cellsOf(first.text)
  if (!names.some(name => counted.test(name))) return records
  return records.slice(1).map(record => {
    const cells = cellsOf(record.text)
    if (cells.length !== names.length) return record
    const named = names.flatMap((name, index) => (cells[index] === '' ? [] : [`${name}: ${cells[index]}`]))
    return { ...record, text: named.join(', ') }
  })
}

function cellsOf(text: string): readonly string[] {
  return text.split(',').map(cell => cell.trim().replace(/^["']|["']$/g, ''))
}
