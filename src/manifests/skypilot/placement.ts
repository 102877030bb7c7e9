import type { DocumentPath, YamlDocument } from '../../document.ts'
import type { Pin } from '../../job.ts'
import { ownEntry } from '../../own-entry.ts'
import { type Sourced, sourced, withoutAbsent } from '../../sourced.ts'
import type { Requirements, Task } from './schema.ts'

/** One way to meet a task's requirements, and where it is written. */
export interface Alternative {
  readonly requirements: Requirements
  readonly path: DocumentPath
}

/** Every way that `any_of` or `ordered` leaves, each over what stands beside them; the plain one where there are none. */
export function alternativesOf({ resources }: Task): readonly Alternative[] {
  if (resources === undefined) return []
  const { any_of: anyOf, ordered, ...common } = resources
  const key = anyOf === undefined ? 'ordered' : 'any_of'
  const listed = anyOf ?? ordered ?? []
  if (listed.length === 0) return [{ requirements: common, path: ['resources'] }]
  return listed.map((own, index) => {
    const namesOwn = own.accelerators !== undefined || own.gpus !== undefined
    return {
      requirements: { ...common, ...withoutAbsent(own) },
      path: namesOwn ? ['resources', key, index] : ['resources'],
    }
  })
}

/** Clouds by SkyPilot's names that are not those of the table of prices. */
const CLOUDS: Readonly<Record<string, string>> = { k8s: '', kubernetes: '', ssh: '' }

/** Where a task has to run, as far as all its alternatives agree. */
export function pinOf(task: Task, document: YamlDocument): Pin | undefined {
  const places = alternativesOf(task).map(({ requirements }) => placeOf(requirements))
  const agreed = <T>(values: readonly (T | undefined)[]): T | undefined =>
    values.every(value => value === values[0]) ? values[0] : undefined
  const from = <T>(value: T | undefined, key: string): Sourced<T> | undefined =>
    value === undefined ? undefined : sourced(value, { kind: 'manifest', place: document.placeOf(['resources', key]) })
  const provider = from(
    agreed(places.map(({ cloud }) => cloud)),
    task.resources?.infra === undefined ? 'cloud' : 'infra',
  )
  const region = from(
    agreed(places.map(place => place.region)),
    task.resources?.infra === undefined ? 'region' : 'infra',
  )
  const spot = from(agreed(places.map(place => place.spot)), 'use_spot')
  const pin = withoutAbsent({ provider, regions: region && [region], spot })
  return Object.keys(pin).length === 0 ? undefined : pin
}

/** `infra: aws/us-east-1/us-east-1a`, where `*` leaves a part open, or the older `cloud` and `region`. */
function placeOf({ infra, cloud, region, use_spot: spot }: Requirements): {
  readonly cloud?: string | undefined
  readonly region?: string | undefined
  readonly spot?: boolean | undefined
} {
  const [infraCloud, infraRegion] = infra?.split('/') ?? []
  const name = (infraCloud ?? cloud)?.toLowerCase()
  const known = name === undefined || name === '*' ? undefined : (ownEntry(CLOUDS, name) ?? name) || undefined
  const isCluster = name !== undefined && ownEntry(CLOUDS, name) !== undefined
  const part = infraRegion ?? region
  return { cloud: known, region: isCluster || part === '*' ? undefined : part, spot }
}
