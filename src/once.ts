/** The same answer for the same key, worked out once; that nothing is known is an answer, too. */
export function once<K, T>(find: (key: K) => T): (key: K) => T {
  const known = new Map<K, { readonly answer: T }>()
  return key => {
    const found = known.get(key) ?? { answer: find(key) }
    known.set(key, found)
    return found.answer
  }
}
