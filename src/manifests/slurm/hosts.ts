/** Nodes of a list as Slurm counts them, doubles once: `a100-[1-3,7],b` is 5. */
export function countHosts(list: string): number {
  return new Set(expandHosts(list)).size
}

/** The most names that a list is spelled out for; no cluster has more nodes. */
const mostHosts = 100_000

function expandHosts(list: string): readonly string[] {
  const hosts: string[] = []
  for (const item of splitOutsideBrackets(list)) {
    const [, before = item, ranges, after = ''] = /^([^[]*)\[([^\]]*)\](.*)$/.exec(item) ?? []
    if (ranges === undefined) {
      if (item.trim() !== '') hosts.push(item.trim())
      continue
    }
    for (const range of ranges.split(',')) {
      const [from = '', to = from] = range.split('-')
      for (let number = Number(from); number <= Number(to) && hosts.length < mostHosts; number += 1) {
        const digits = String(number).padStart(from.length, '0')
        hosts.push(
          ...(after.includes('[') ? expandHosts(`${before}${digits}${after}`) : [`${before}${digits}${after}`]),
        )
      }
    }
  }
  return hosts
}

function splitOutsideBrackets(list: string): readonly string[] {
  return list.match(/(?:[^,[\]]|\[[^\]]*\]?)+/g) ?? []
}
