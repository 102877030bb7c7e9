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
  const rowOf = (line: string): Row =>
    Object.fromEntries(splitCells(line).map((cell, index) => [columns[index] ?? '', cell]))
  return {
    rows: () =>
      csv
        .slice(headEnd + 1)
        .split('\n')
        .filter(line => line.trim() !== '')
        .map(rowOf),
    rowsWith: (column, cell) =>
      linesWith(csv, cell)
        .map(rowOf)
        .filter(row => row[column] === cell),
  }
}

/** A number, or undefined where the cell is empty. */
export function numberIn(row: Row, column: string): number | undefined {
  const text = row[column]
  return text === undefined || text === '' ? undefined : Number(text)
}

/** Lines that hold this text anywhere: to search is quicker than to split all lines. */
function linesWith(csv: string, text: string): string[] {
  const lines: string[] = []
  let found = csv.indexOf(text)
  while (found >= 0) {
    const end = csv.indexOf('\n', found)
    const start = csv.lastIndexOf('\n', found) + 1
    const stop = end < 0 ? csv.length : end
    lines.push(csv.slice(start, stop))
    found = csv.indexOf(text, stop)
  }
  return lines
}

function splitCells(line: string): string[] {
  const text = line.trimEnd()
  if (!text.includes('"')) return text.split(',')
  return Array.from(
    text.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g),
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  )
}
