import type { LogRecord } from './records.ts'

const ofCommas = /^\s*["']?[A-Za-z_][\w /.-]*["']?(?:\s*,\s*["']?[A-Za-z_][\w /.-]*["']?){2,}\s*$/
/** HOOMD's table of the columns that the user chose. */
const ofHoomd = /^\s*Simulation\.timestep(?:\s+[\w.]+)+\s*$/
/** `Epoch    Train loss    Valid loss    Time`. */
const ofGaps = /^\s*(?:(?:epoch|step|iter(?:ation)?)s?|E\s{2,}#)(?:\s{2,}[A-Za-z][\w/.-]*(?: [\w/.()-]+){0,2}){2,}\s*$/i
const counted = /^(?:global_?)?(?:time)?(?:step|epoch|iter|iteration|update)s?$/i

/** Rows of a table whose header names its columns, a counter among them, with those names: `epoch: 3 | step: 1563 | loss: 0.4`. */
export function namedColumns(records: readonly LogRecord[]): readonly LogRecord[] {
  return namedCells(namedValues(records))
}

const ofBars = /^\s*\|(?:[^|]*\|){3,}\s*$/

/** Tables between bars, whose header may come again and again. What several things report in one table is no counter. */
function namedCells(records: readonly LogRecord[]): readonly LogRecord[] {
  let names: readonly string[] = []
  const reporters = new Set<string>()
  const named = records.map(record => {
    if (!ofBars.test(record.text)) return record
    const cells = cellsOf(record.text.trim().slice(1, -1), '|')
    if (cells.some(cell => counted.test(cell))) names = cells
    else if (cells.length === names.length && cells.some(cell => /^\d/.test(cell))) {
      reporters.add(/^\d/.test(cells[0] ?? '') ? '' : (cells[0] ?? ''))
      return { ...record, text: cells.map((cell, column) => `${names[column]}: ${cell}`).join(' | ') }
    }
    return record
  })
  return reporters.size === 1 ? named : records
}

/** Tables of values between commas or wide gaps, and HOOMD's. */
function namedValues(records: readonly LogRecord[]): readonly LogRecord[] {
  const first = records.findIndex(
    ({ text }, index) => (index === 0 && ofCommas.test(text)) || ofHoomd.test(text) || ofGaps.test(text),
  )
  const header = records[first]
  if (header === undefined) return records
  const separator = ofHoomd.test(header.text) ? /\s+/ : ofGaps.test(header.text) ? /\s{2,}/ : ','
  const names = cellsOf(header.text, separator).map(plainName)
  if (!names.some(name => counted.test(name))) return records
  return records.map((record, index) => {
    const cells = cellsOf(record.text, separator)
    if (index <= first || cells.length !== names.length) return record
    const named = names.flatMap((name, column) => (cells[column] === '' ? [] : [`${name}: ${cells[column]}`]))
    return { ...record, text: named.join(' | ') }
  })
}

/** Columns of HOOMD and of spaCy by the names that others give them. */
const plainNames: ReadonlyMap<string, string> = new Map([
  ['Simulation.timestep', 'timestep'],
  ['Simulation.tps', 'steps/s'],
  ['Status.etr', 'eta'],
  ['E', 'epoch'],
  ['#', 'step'],
])

function plainName(name: string): string {
  return plainNames.get(name) ?? name
}

function cellsOf(text: string, separator: string | RegExp): readonly string[] {
  return text
    .trim()
    .split(separator)
    .map(cell => cell.trim().replace(/^["']|["']$/g, ''))
}
