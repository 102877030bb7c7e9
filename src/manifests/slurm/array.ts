/** Tasks of an array job, and how many may run at one time. */
export interface ArrayTasks {
  readonly tasks: number
  readonly concurrent: number
}

/** `0-15`, `1,3,5-7:2%4`, `[0-3]%2`: undefined where Slurm would call it invalid. An empty text is no array. */
export function readArray(text: string): ArrayTasks | undefined {
  if (text === '') return { tasks: 1, concurrent: 1 }
  const limit = /%(-?\d*)/.exec(text)?.[1]
  const list = text.replace(/%-?\d*/, '').replace(/^\[([^\]]*)\]$/, '$1')
  const tasks = list === '' ? new Set([0]) : readIndices(list)
  if (tasks === undefined) return undefined
  const most = limit === undefined || limit === '' ? 0 : Number(limit)
  return { tasks: tasks.size, concurrent: most > 0 ? Math.min(most, tasks.size) : tasks.size }
}

/** No Slurm takes a larger index: the limit of MaxArraySize (slurm.conf(5)). */
const largestIndex = 4_000_001

function readIndices(list: string): Set<number> | undefined {
  const indices = new Set<number>()
  for (const range of list.split(',')) {
    const match = /^(\d+)(?:-(\d*)(?::(\d+))?)?$/.exec(range)
    if (match === null) return undefined
    const first = Number(match[1])
    const last = match[2] === undefined || match[2] === '' ? first : Number(match[2])
    const step = match[3] === undefined ? 1 : Number(match[3])
    if (last < first || step === 0 || last > largestIndex) return undefined
    for (let index = first; index <= last; index += step) indices.add(index)
  }
  return indices
}
