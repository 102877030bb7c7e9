/** Rows of cells of a CSV text (RFC 4180), line breaks inside quotes included; as other tools write it. */
export function quotedRows(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|\r|$)/gy
  const body = text.replace(/^\uFEFF/, '')
  while (cell.lastIndex < body.length) {
    const match = cell.exec(body)
    if (match === null) break
    const [, quoted, bare = '', end] = match
    row.push(quoted?.replaceAll('""', '"') ?? bare)
    if (end === ',') continue
    if (row.some(each => each !== '')) rows.push(row)
    row = []
  }
  if (row.length > 0) rows.push(row)
  return rows
}
