/** The same answer for the same key, worked out once. */
export function once<K, T>(find: (key: K) => T): (key: K) => T {
  const known = new Map<K, T>()
  return key => {
    const answer = known.get(key) ?? find(key)
    known.set(key, answer)
    return answer
  }
}
