/** The same answer for the same name, worked out once. */
export function once<T>(find: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()
  return name => {
    const answer = known.get(name) ?? find(name)
    known.set(name, answer)
    return answer
  }
}
