/** The words of a list that is written in rows, without quotes and commas between them. */
export function words(rows: string): readonly string[] {
  return rows.trim().split(/\s+/)
}
