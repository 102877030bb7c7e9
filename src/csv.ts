/** One row of a table: its cells by column. An empty cell says that nothing is known. */
export type Row = Readonly<Record<string, string>>

/** A line of a table of which single cells can be read before the whole row is. */
export interface Line {
  cell(column: string): string
  row(): Row
}

/** A table of one row a line. Rows are split when they are asked for, since a quote needs only a few of them. */
export interface Table {
  rows(): readonly Row[]
  /** Lines that have this very text in this column. */
  linesWith(column: string, cell: string): readonly Line[]
  /** Rows that have this very text in this column. */
  rowsWith(column: string, cell: string): readonly Row[]
}

/** Opens a CSV text (RFC 4180 without line breaks inside cells) whose first line names the columns. */
export function openTable(csv: string): Table {
  const headEnd = csv.indexOf('\n')
  const columns = splitCells(csv.slice(0, headEnd))
  const lineOf = (text: string): Line => ({
    cell: column => nthCell(text, columns.indexOf(column)),
    row: () => {
      const cells = splitCells(text)
      const row: Record<string, string> = {}
      columns.forEach((column, index) => {
        row[column] = cells[index] ?? ''
      })
      return row
    },
  })
  const linesWith = (column: string, cell: string) =>
    findLines(csv, cell, headEnd + 1)
      .map(lineOf)
      .filter(line => line.cell(column) === cell)
  return {
    rows: () =>
      csv
        .slice(headEnd + 1)
        .split('\n')
        .filter(text => text.trim() !== '')
        .map(text => lineOf(text).row()),
    linesWith,
    rowsWith: (column, cell) => linesWith(column, cell).map(line => line.row()),
  }
}

/** A number, or undefined where the cell is empty. */
export function numberIn(row: Row, column: string): number | undefined {
  const text = row[column]
  return text === undefined || text === '' ? undefined : Number(text)
}

/** Lines that hold a text anywhere: to search is quicker than to split all lines. */
function findLines(csv: string, text: string, from: number): string[] {
  const lines: string[] = []
  let found = csv.indexOf(text, from)
  while (found >= 0 && found < csv.length) {
    const end = indexOrEnd(csv, '\n', found)
    lines.push(csv.slice(csv.lastIndexOf('\n', found) + 1, end).trimEnd())
    found = csv.indexOf(text, end + 1)
  }
  return lines
}

/** One cell of a line; the others are split only where a quote stands before it. */
function nthCell(line: string, index: number): string {
  let start = 0
  for (let passed = 0; passed < index; passed++) {
    if (line.startsWith('"', start)) return splitCells(line)[index] ?? ''
    start = indexOrEnd(line, ',', start) + 1
  }
  return line.startsWith('"', start) ? (splitCells(line)[index] ?? '') : line.slice(start, indexOrEnd(line, ',', start))
}

/** By hand: an expression for quoted cells takes several times as long. */
function splitCells(line: string): string[] {
  const text = line.trimEnd()
  const cells: string[] = []
  let start = 0
  while (start <= text.length) {
    const quoted = text.startsWith('"', start)
    const end = quoted ? closingQuote(text, start + 1) : indexOrEnd(text, ',', start)
    cells.push(quoted ? text.slice(start + 1, end).replaceAll('""', '"') : text.slice(start, end))
    start = end + (quoted ? 2 : 1)
  }
  return cells
}

/** The quote that ends a cell; a doubled one stands for itself. */
function closingQuote(text: string, from: number): number {
  let end = indexOrEnd(text, '"', from)
  while (text.startsWith('""', end)) end = indexOrEnd(text, '"', end + 2)
  return end
}

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from)
  return index < 0 ? text.length : index
}
