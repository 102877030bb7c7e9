/** A map that forgets what was set longest ago once it holds more than `most`. */
export class RecentMap<V> {
  private readonly most: number
  private readonly values = new Map<string, V>()

  constructor(most: number) {
    this.most = most
  }

  get(key: string): V | undefined {
    return this.values.get(key)
  }

  has(key: string): boolean {
    return this.values.has(key)
  }

  set(key: string, value: V): void {
    // Deleted first, so that the order of the map is that of last use.
    this.values.delete(key)
    this.values.set(key, value)
    const [oldest] = this.values.size > this.most ? this.values.keys() : []
    if (oldest !== undefined) this.values.delete(oldest)
  }

  delete(key: string): void {
    this.values.delete(key)
  }
}
