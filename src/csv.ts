/** One row of a table: its cells by column. An empty cell says that nothing is known. */
export type Row = Readonly<Record<string, string>>

/** A line of a table: single cells, the first ones quickly, or the whole row. */
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
  const linesWith = (column: string, cell: string): readonly Line[] => {
    const index = columns.indexOf(column)
    return findLines(csv, cell, headEnd + 1).flatMap(text => {
      const head = splitCells(text, index + 1)
      return head[index] === cell ? [lineOf(text, head, columns)] : []
    })
  }
  return {
    rows: () =>
      csv
        .slice(headEnd + 1)
        .split('\n')
        .filter(text => text.trim() !== '')
        .map(text => rowOf(columns, splitCells(text))),
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

/** A line whose first cells are known already. */
function lineOf(text: string, head: readonly string[], columns: readonly string[]): Line {
  return {
    cell: column => {
      const index = columns.indexOf(column)
      return head[index] ?? splitCells(text)[index] ?? ''
    },
    row: () => rowOf(columns, splitCells(text)),
  }
}

function rowOf(columns: readonly string[], cells: readonly string[]): Row {
  const row: Record<string, string> = {}
  columns.forEach((column, index) => {
    row[column] = cells[index] ?? ''
  })
  return row
}

/** The first cells of a line, or all. By hand: an expression for quoted cells takes several times as long. */
function splitCells(line: string, limit = Number.POSITIVE_INFINITY): string[] {
  const text = line.trimEnd()
  const cells: string[] = []
  let start = 0
  while (start <= text.length && cells.length < limit) {
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
