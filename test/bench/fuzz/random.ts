/** Numbers that look random and are the same for the same seed. */
export class Random {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** 0 to 1, 1 excluded: mulberry32, by Tommy Ettinger, in the public domain. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** 0 to `end`, which is excluded. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(items: readonly [T, ...T[]]): T
  pick<T>(items: readonly T[]): T | undefined
  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)]
  }
}
