/** One row of a table: its cells by column. An empty cell says that nothing is known. */
export type Row = Readonly<Record<string, string>>

/** A table of one row a line. Rows are split when they are asked for, since a quote needs only a few of them. */
export interface Table {
  rows(): readonly Row[]
  /** Rows that have this very text in this column. */
  rowsWith(column: string, cell: string): readonly Row[]
}

/** Opens a CSV text (RFC 4180 without line breaks inside cells) whose first line names the columns. */
export function openTable(csv: string): Table {
  const headEnd = csv.indexOf('\n')
  const columns = splitCells(csv.slice(0, headEnd))
  const rowOf = (cells: readonly string[]): Row => {
    const row: Record<string, string> = {}
    columns.forEach((column, index) => {
      row[column] = cells[index] ?? ''
    })
    return row
  }
  return {
    rows: () =>
      csv
        .slice(headEnd + 1)
        .split('\n')
        .filter(line => line.trim() !== '')
        .map(line => rowOf(splitCells(line))),
    rowsWith: (column, cell) =>
      linesWith(csv, cell, headEnd + 1)
        .map(splitCells)
        .filter(cells => cells[columns.indexOf(column)] === cell)
        .map(rowOf),
  }
}

/** A number, or undefined where the cell is empty. */
export function numberIn(row: Row, column: string): number | undefined {
  const text = row[column]
  return text === undefined || text === '' ? undefined : Number(text)
}

/** Lines with a cell that has this text: to search is quicker than to split all lines. */
function linesWith(csv: string, cell: string, from: number): string[] {
  const lines: string[] = []
  let found = csv.indexOf(cell, from)
  while (found >= 0 && found < csv.length) {
    const end = indexOrEnd(csv, '\n', found)
    const line = `,${csv.slice(csv.lastIndexOf('\n', found) + 1, end).trimEnd()},`
    if (line.includes(`,${cell},`) || line.includes(`,"${cell}",`)) lines.push(line.slice(1, -1))
    found = csv.indexOf(cell, end + 1)
  }
  return lines
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
