/** One row of a table: its cells by column. An empty cell says that nothing is known. */
export type Row = Readonly<Record<string, string>>

/** A line of a table, of which single cells, all cells in the order of the columns, or the row may be read. */
export interface Line {
  cell(column: string): string
  cells(): readonly string[]
  row(): Row
}

/** A table of one row a line. Lines are split when their cells are asked for, since a quote needs only a few of them. */
export interface Table {
  lines(): readonly Line[]
  rows(): readonly Row[]
  /** Lines that have this very text in this column; found quickest by the first. */
  linesWith(column: string, cell: string): readonly Line[]
}

/**
 * Opens a CSV text (RFC 4180 without line breaks inside cells, and with quotes only around cells that need them) whose first line
 * names the columns.
 */
export function openTable(csv: string): Table {
  const headEnd = csv.indexOf('\n')
  const columns = splitCells(csv.slice(0, headEnd).trimEnd())
  const linesWith = (column: string, cell: string): readonly Line[] => {
    const index = columns.indexOf(column)
    const written = writtenCell(cell)
    // To search is quicker than to split all lines.
    const pattern = `${index === 0 ? '\n' : ','}${written}${index === columns.length - 1 ? '' : ','}`
    const lines: Line[] = []
    let found = csv.indexOf(pattern, headEnd)
    while (found >= 0) {
      const end = indexOrEnd(csv, '\n', found + 1)
      const text = csv.slice(csv.lastIndexOf('\n', found) + 1, end).trimEnd()
      if (index === 0 || cellAt(text, index) === cell) lines.push(new TextLine(text, columns))
      found = csv.indexOf(pattern, end)
    }
    return lines
  }
  const lines = () =>
    csv
      .slice(headEnd + 1)
      .trimEnd()
      .split(/\r?\n/)
      .map(text => new TextLine(text, columns))
  return {
    lines,
    rows: () => lines().map(line => line.row()),
    linesWith,
  }
}

/** A number, or undefined where the cell is empty. */
export function numberIn(row: Row, column: string): number | undefined {
  const text = row[column]
  return text === undefined || text === '' ? undefined : Number(text)
}

/** A class, since a quote makes hundreds of lines and an object of functions each would take ten times the memory. */
class TextLine implements Line {
  private readonly text: string
  private readonly columns: readonly string[]

  constructor(text: string, columns: readonly string[]) {
    this.text = text
    this.columns = columns
  }

  cell(column: string): string {
    return cellAt(this.text, this.columns.indexOf(column))
  }

  cells(): readonly string[] {
    return splitCells(this.text)
  }

  row(): Row {
    return rowOf(this.columns, this.cells())
  }
}

function rowOf(columns: readonly string[], cells: readonly string[]): Row {
  const row: Record<string, string> = {}
  columns.forEach((column, index) => {
    row[column] = cells[index] ?? ''
  })
  return row
}

function writtenCell(cell: string): string {
  return /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

function cellAt(text: string, index: number): string {
  return splitCells(text, index + 1)[index] ?? ''
}

/** The first cells of a line, or all. */
function splitCells(text: string, limit?: number): readonly string[] {
  // Most lines have no quotes, and Node.js splits those much quicker.
  if (!text.includes('"')) return text.split(',', limit)
  const cells: string[] = []
  for (let start = 0; start <= text.length && cells.length !== limit; ) {
    const end = cellEnd(text, start)
    cells.push(readCell(text, start, end))
    start = end + 1
  }
  return cells
}

function readCell(text: string, start: number, end: number): string {
  return text.startsWith('"', start) ? text.slice(start + 1, end - 1).replaceAll('""', '"') : text.slice(start, end)
}

/** Where the cell that begins at `start` ends: at a comma, behind a closing quote, or with the line. */
function cellEnd(text: string, start: number): number {
  if (!text.startsWith('"', start)) return indexOrEnd(text, ',', start)
  let quote = indexOrEnd(text, '"', start + 1)
  while (text.startsWith('""', quote)) quote = indexOrEnd(text, '"', quote + 2)
  return quote + 1
}

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from)
  return index < 0 ? text.length : index
}
