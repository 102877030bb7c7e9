import { migProfileIn } from '../../gpu.ts'
import { findGpuHint } from '../../gpu-hints.ts'
import type { DeviceShare, GpuTypeBasis, GpuTypeRequest } from '../../job.ts'
import { type Origin, type Sourced, sourced } from '../../sourced.ts'
import type { Directive } from './directives.ts'
import { gpuOptions } from './gpu-count.ts'
import { gresOf, type Settings } from './settings.ts'

/** Which GPU type a component asks for, from the strongest word it has on it to the weakest guess. */
export function readGpuType(settings: Settings, directives: readonly Directive[]): GpuTypeRequest {
  const stated = gpuOptions.flatMap(name => typesOf(settings, name))
  if (stated.length > 0) return { basis: 'directive', names: distinct(stated) }
  const hints: readonly (readonly [GpuTypeBasis, readonly Sourced<string>[]])[] = [
    ['constraint', namesIn(settings, 'constraint', constraintNames)],
    ['partition-hint', namesIn(settings, 'partition', hintNames)],
    ['partition-hint', namesIn(settings, 'nodelist', hintNames)],
    ['account-hint', namesIn(settings, 'account', hintNames)],
    ['account-hint', namesIn(settings, 'qos', hintNames)],
    ['comment', commentNames(settings, directives)],
  ]
  const [basis, names] = hints.find(([, found]) => found.length > 0) ?? ['none', []]
  return { basis, names: distinct(names) }
}

function typesOf(settings: Settings, option: string): readonly Sourced<string>[] {
  const setting = settings.get(option)
  if (setting === undefined) return []
  return (gresOf(settings, option) ?? []).flatMap(gres =>
    gres.name === 'gpu' && gres.type !== undefined ? [sourced(gres.type, setting.origin)] : [],
  )
}

function namesIn(
  settings: Settings,
  option: string,
  find: (value: string) => readonly string[],
): readonly Sourced<string>[] {
  const setting = settings.get(option)
  return setting?.value === undefined ? [] : find(setting.value).map(name => sourced(name, setting.origin))
}

/** Features of `-C "a100&nvlink"`, `[v100-32g|a100]`, `volta32gb`; the word as the site spells it. */
function constraintNames(constraint: string): readonly string[] {
  const words = constraint.split(/[&|,[\]()*!]+/).filter(word => !/^\d*$/.test(word))
  return words.flatMap(word => (/^volta[-_]?(\d+gb?)?$/i.test(word) ? [word] : (findGpuHint(word) ?? [])))
}

function hintNames(value: string): readonly string[] {
  return value.split(/[,:]/).flatMap(word => findGpuHint(word) ?? [])
}

/** `#SBATCH --gres=gpu:8   # 8x A100`: the remark beside the request. */
function commentNames(settings: Settings, directives: readonly Directive[]): readonly Sourced<string>[] {
  const asked = gpuOptions.flatMap(name => settings.get(name) ?? [])
  return asked.flatMap(setting => {
    const line = directives.find(directive => directive.line === setting.place.line)
    const name = line?.comment === undefined ? undefined : findGpuHint(line.comment)
    const origin: Origin = setting.origin
    return name === undefined ? [] : [sourced(name, origin)]
  })
}

function distinct(names: readonly Sourced<string>[]): readonly Sourced<string>[] {
  return [...new Map(names.map(name => [name.value.toLowerCase(), name])).values()]
}

/**
 * A MIG slice as GRES type, `gpu:a100_3g.20gb:1`. The share is that of compute slices, seven on the data-center GPUs
 * (docs.nvidia.com/datacenter/tesla/mig-user-guide); an A30 has four.
 */
export function shareOf(request: GpuTypeRequest): DeviceShare | undefined {
  const [name] = request.names
  const profile = name === undefined || request.basis !== 'directive' ? undefined : migProfileIn(name.value)
  if (name === undefined || profile === undefined) return undefined
  const slices = /a30/i.test(name.value) ? 4 : 7
  return { kind: 'mig', profile, share: Number.parseInt(profile, 10) / slices }
}
