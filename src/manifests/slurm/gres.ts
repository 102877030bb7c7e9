/** One kind of generic resource in a list: `gpu:a100:8`. */
export interface Gres {
  readonly name: string
  readonly type: string | undefined
  readonly count: number
}

/**
 * Reads `gpu:a100:8,gpu:t4:1`, with or without the prefix `gres:` that sbatch puts before each. Undefined where sbatch would call it
 * invalid. Of one name and type the last counts; a count of 0 asks for nothing.
 */
export function readGres(list: string): readonly Gres[] | undefined {
  const found = new Map<string, Gres>()
  for (const item of list.split(',')) {
    const written = item.replace(/^gres:/, '')
    if (written === '') continue
    const gres = readOne(written)
    if (gres === undefined) return undefined
    if (gres.count > 0) found.set(`${gres.name}:${gres.type ?? ''}`, gres)
  }
  return [...found.values()]
}

function readOne(written: string): Gres | undefined {
  const [name = '', ...parts] = written.split(':')
  const [first, ...rest] = parts
  if (first === undefined) return { name, type: undefined, count: 1 }
  if (first === '') return undefined
  const second = rest.length === 0 ? undefined : rest.join(':')
  if (second === undefined) {
    const count = readCount(first)
    return count === undefined ? { name, type: first, count: 1 } : { name, type: undefined, count }
  }
  const count = readCount(second)
  return count === undefined ? undefined : { name, type: first, count }
}

const multipliers: Readonly<Record<string, number>> = {
  '': 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
  p: 2 ** 50,
}

function readCount(written: string): number | undefined {
  const match = /^[ \t\n\v\f\r]*([+-]?\d+)([kmgtp]?)$/i.exec(written)
  // -1 is the largest number without a sign, which Slurm takes for "no number": `gpu:-1` is one GPU of type -1.
  if (match === null || match[1] === '-1') return undefined
  return Number(match[1]) * (multipliers[match[2]?.toLowerCase() ?? ''] ?? 1)
}
