/** The words of a list that is written in rows, without quotes and commas between them. */
export function words(rows: string): readonly string[] {
  return rows.trim().split(/\s+/)
}

/** The word that somebody may have meant: the one with the fewest edits, as long as most of it is left; undefined where none is like it. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const apart = (each: string): number => editDistance(each.toLowerCase(), word.toLowerCase())
  const nearest = [...known].sort((a, b) => apart(a) - apart(b))[0]
  return nearest !== undefined && apart(nearest) <= Math.max(1, Math.floor(word.length / 3)) ? nearest : undefined
}

/** Lengths that differ by more are those of words that have nothing in common. */
const farApart = 100

/** Levenshtein distance; of words whose lengths are far apart the least that it can be. */
export function editDistance(a: string, b: string): number {
  const least = Math.abs(a.length - b.length)
  if (least > farApart) return least
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
