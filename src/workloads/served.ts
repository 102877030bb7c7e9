import type { Job, Role, ServedModel } from '../job.ts'
import type { ModelTable } from '../model.ts'
import { sourced, withoutAbsent } from '../sourced.ts'
import type { Workload } from '../workload.ts'
import { resolveModel } from './derived.ts'

/** A run that serves, with what its object says of the model where its program does not. */
export function asServed(workload: Workload, { roles, declarations }: Job, models: ModelTable): Workload {
  const serves = roles.find(({ name }) => name === workload.role)?.serves
  if (serves === undefined || workload.purpose !== 'serve') return workload
  const isNamed = workload.modelName !== undefined || workload.model !== undefined
  const own: Workload = {
    ...workload,
    ...(isNamed ? {} : withoutAbsent({ modelName: serves.modelName })),
    ...(workload.parallelism === undefined ? splitOf(serves) : {}),
  }
  return isNamed ? own : resolveModel(own, declarations, models)
}

/** What objects say that they serve whose programs say nothing that is understood. */
export function servedAlone(job: Job, read: readonly Workload[], models: ModelTable): readonly Workload[] {
  return job.roles
    .filter(role => role.gpuCount.value > 0 && read.every(workload => workload.role !== role.name))
    .flatMap(role => (role.serves === undefined ? [] : [servedBy(role, role.serves)]))
    .map(workload => resolveModel(workload, job.declarations, models))
}

function servedBy({ name }: Role, serves: ServedModel): Workload {
  const { place, modelName, framework } = serves
  return {
    purpose: 'serve',
    place,
    role: name,
    repetitions: 1,
    conditional: false,
    ...withoutAbsent({ modelName, framework }),
    ...splitOf(serves),
  }
}

function splitOf({ tensorParallel }: ServedModel): Pick<Workload, 'parallelism'> {
  if (tensorParallel === undefined) return {}
  const { value: tensor, origin } = tensorParallel
  return {
    parallelism: sourced({ tensor, pipeline: 1, interleave: 1, context: 1, expert: 1, sharding: 'none' }, origin),
  }
}
