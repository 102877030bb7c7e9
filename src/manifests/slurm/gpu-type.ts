import { migProfileIn } from '../../gpu.ts'
import { findGpuHint } from '../../gpu-hints.ts'
import type { DeviceShare, GpuTypeBasis, GpuTypeRequest } from '../../job.ts'
import { type Origin, type Sourced, sourced } from '../../sourced.ts'
import type { Directive } from './directives.ts'
import { gpuOptions } from './gpu-count.ts'
import { gresOf, type Settings, sharesOf } from './settings.ts'

/** Which GPU type a component asks for, from the strongest word it has on it to the weakest guess. */
export function readGpuType(settings: Settings, directives: readonly Directive[]): GpuTypeRequest {
  const stated = gpuOptions.flatMap(name => typesOf(settings, name))
  if (stated.length > 0) return { basis: 'directive', names: distinct(stated.map(name => refined(name, settings))) }
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

/** `--gres=gpu:a100:1 --constraint=a100-80gb`: the constraint says which A100. */
function refined(name: Sourced<string>, settings: Settings): Sourced<string> {
  const key = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')
  const [feature, ...more] = namesIn(settings, 'constraint', constraintNames)
  const says = feature !== undefined && more.length === 0 && key(feature.value).startsWith(key(name.value))
  return says && /^\d{2,3}(?:gb?)?$/.test(key(feature.value).slice(key(name.value).length)) ? feature : name
}

/** Architectures and makers that several types share; Volta is the V100 in every data center. */
const SHARED_NAME =
  /^(kepler|maxwell|pascal|turing|ampere|ada|lovelace|hopper|blackwell|cdna\d?|tesla|quadro|geforce|rtx|gtx|nvidia|amd|gpu|any)$/i

/** The word at the place of a type that names none, `ampere` of `gpu:ampere:2`. */
export function sharedName(settings: Settings): string | undefined {
  return gpuOptions.flatMap(name => wordsOf(settings, name)).find(({ value }) => SHARED_NAME.test(value))?.value
}

function typesOf(settings: Settings, option: string): readonly Sourced<string>[] {
  return wordsOf(settings, option).filter(({ value }) => !SHARED_NAME.test(value))
}

function wordsOf(settings: Settings, option: string): readonly Sourced<string>[] {
  const setting = settings.get(option)
  if (setting === undefined) return []
  const gpus = (gresOf(settings, option) ?? []).filter(gres => gres.name === 'gpu')
  const asked = gpus.length > 0 ? gpus : sharesOf(settings, option)
  return asked.flatMap(gres => (gres.type === undefined ? [] : [sourced(gres.type, setting.origin)]))
}

function namesIn(
  settings: Settings,
  option: string,
  find: (value: string) => readonly string[],
): readonly Sourced<string>[] {
  const setting = settings.get(option)
  return setting?.value === undefined ? [] : find(setting.value).map(name => sourced(name, setting.origin))
}

/**
 * Features of `-C "a100&nvlink"`, `[v100-32g|a100]`, `volta32gb`; the word as the site spells it. Where one of several ways to meet the
 * constraint says nothing of a GPU, nothing is known.
 */
function constraintNames(constraint: string): readonly string[] {
  const ways = constraint.replace(/[[\]()]/g, '').split('|')
  const named = ways.map(way => way.split(/[&,]+/).flatMap(featureName))
  return named.every(names => names.length > 0) ? named.flat() : []
}

const VOLTA = /^volta[-_]?(\d+gb?)?$/i

/** `a100`, `a100*2`; not `!k80`, which rules one out. */
function featureName(feature: string): readonly string[] {
  if (feature.trim().startsWith('!')) return []
  const word = feature.replace(/\*\d+$/, '').trim()
  return VOLTA.test(word) ? [word] : [findGpuHint(word) ?? []].flat()
}

function hintNames(value: string): readonly string[] {
  return value.split(/[,:]/).flatMap(word => findGpuHint(word) ?? VOLTA.exec(word)?.[0] ?? [])
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

/** What one requested device is, where it is not a whole GPU: a MIG slice as GRES type (`gpu:a100_3g.20gb:1`), a shard, a part by MPS. */
export function shareOf(settings: Settings): DeviceShare | undefined {
  const gpus = gpuOptions.flatMap(name => gresOf(settings, name)?.filter(gres => gres.name === 'gpu') ?? [])
  const [shared] = gpus.length > 0 ? [] : gpuOptions.flatMap(name => sharesOf(settings, name))
  // How many shards a GPU has, and what counts as one by MPS, is the site's to say.
  if (shared !== undefined) return { kind: shared.name === 'shard' ? 'time-slice' : 'fraction' }
  const slices = gpus.flatMap(({ type = '', count }) => {
    const profile = migProfileIn(type)
    return profile === undefined ? [] : [{ profile, count, share: Number.parseInt(profile, 10) / slicesOf(type) }]
  })
  const [first] = slices
  if (first === undefined || slices.length < gpus.length) return undefined
  if (slices.every(({ profile }) => profile === first.profile)) {
    return { kind: 'mig', profile: first.profile, share: first.share }
  }
  const devices = slices.reduce((sum, { count }) => sum + count, 0)
  return {
    kind: 'mig',
    profile: slices.map(({ count, profile }) => `${count}x ${profile}`).join(' + '),
    share: slices.reduce((sum, { count, share }) => sum + count * share, 0) / devices,
  }
}

/** Compute slices of a whole GPU: seven on the data-center GPUs, four on an A30 (docs.nvidia.com/datacenter/tesla/mig-user-guide). */
function slicesOf(type: string): number {
  return /a30/i.test(type) ? 4 : 7
}
