import { fitsGlob } from '../globs.ts'
import type { Where } from '../rulebook.ts'
import { tagOf } from '../tags.ts'
import { isOn, type Subject } from './subject.ts'

/** Whether a policy or an exemption is about this job. */
export function isAbout(where: Where, subject: Subject): boolean {
  const { cluster, team, path, asWritten } = subject
  return (
    holds(where.clusters, name => name === cluster) &&
    holds(where.teams, name => name === team) &&
    holds(where.paths, glob => fitsGlob(path, glob)) &&
    holds(where.gpus, name =>
      asWritten.some(({ candidate }) => candidate.placements.some(placement => isOn(placement, name))),
    ) &&
    Object.entries(where.tags).every(([name, value]) => saidOf(name, subject) === value)
  )
}

function holds(names: readonly string[], isSo: (name: string) => boolean): boolean {
  return names.length === 0 || names.some(isSo)
}

function saidOf(name: string, { config, fare: { job } }: Subject): string | undefined {
  return tagOf(name, job, config) ?? (Object.hasOwn(job.destination, name) ? job.destination[name] : undefined)
}

/** ` for team vision on cluster research`; empty where it is about all jobs. */
export function describeWhere({ clusters, paths, teams, gpus, tags }: Where): string {
  return [
    [' for team', teams],
    [' on cluster', clusters],
    [' with', gpus],
    [' in', paths],
    [' with', Object.entries(tags).map(([name, value]) => `${name} ${value}`)],
  ]
    .map(([words, names]) =>
      names === undefined || names.length === 0 ? '' : `${words} ${[names].flat().join(' or ')}`,
    )
    .join('')
}
