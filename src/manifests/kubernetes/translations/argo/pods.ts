import { type DocumentPath, isMapping, type Mapping, readYaml, valueAt } from '../../../../document.ts'
import { parseDuration } from '../../../../units.ts'
import { containerEntry, podFieldsOf } from '../pod-parts.ts'
import type { Entry } from '../translation.ts'
import { fill, markOpen, openPlaceholders, type Scope } from './parameters.ts'
import type { Template, WorkflowSpec } from './templates.ts'

/** A template's pod, its placeholders filled in as far as they are known. */
export interface TemplatePod {
  readonly entries: readonly Entry[]
  /** Placeholders without a value, that bear on what it asks for and that do not. */
  readonly open: readonly string[]
  /** What it asks for, without what it runs: pods of one template that differ in this are roles of their own. */
  readonly shape: string
}

const RUN = ['command', 'args', 'env', 'envFrom', 'image', 'name']

/** The pod of a template that runs containers; undefined where it runs none. */
export function podOf(template: Template, specs: readonly WorkflowSpec[], scope: Scope): TemplatePod | undefined {
  const containers = containersOf(template)
  if (containers.length === 0) return undefined
  const { holder, path } = template
  const base = podFieldsOf(holder, path)
  const entries: Entry[] = [
    { ...base, value: fill({ ...asMapping(base.value), activeDeadlineSeconds: limitOf(template, scope) }, scope) },
    ...inherited(template, specs).map(entry => ({ ...entry, value: fill(entry.value, scope) })),
    ...containers.flatMap((container, index) => filledContainer(container, index, scope)),
  ].map(entry => ({ ...entry, document: entry.document ?? holder.document }))
  const all = [...entries, ...patches(template, specs, scope, containers)]
  const relevant = all.map(({ value }) => withoutRun(value))
  return { entries: all, open: openPlaceholders(relevant), shape: JSON.stringify(relevant) }
}

interface PlacedContainer {
  readonly value: Mapping
  readonly from: DocumentPath
  /** Where its script's text stands. */
  readonly source?: { readonly from: DocumentPath; readonly text: string }
}

function containersOf({ value, holder, path }: Template): readonly PlacedContainer[] {
  const at = [...holder.path, ...path]
  const main: PlacedContainer[] = []
  if (isMapping(value['container']))
    main.push({ value: { ...value['container'], name: 'main' }, from: [...at, 'container'] })
  else if (isMapping(value['script'])) main.push(scriptContainer(value['script'], [...at, 'script']))
  const set = valueAt(value, ['containerSet', 'containers'])
  const listed = (list: unknown, from: DocumentPath) =>
    (Array.isArray(list) ? list : []).flatMap((each, index) =>
      isMapping(each) ? [{ value: each, from: [...from, index] }] : [],
    )
  main.push(...listed(set, [...at, 'containerSet', 'containers']))
  return main.length === 0 ? [] : [...main, ...listed(value['sidecars'], [...at, 'sidecars'])]
}

/** A script is written into a file and given to its command; for what it does that is `command -c SCRIPT`. */
function scriptContainer(script: Mapping, from: DocumentPath): PlacedContainer {
  const { source, command, ...rest } = script
  const words = Array.isArray(command) && command.length > 0 ? command : ['sh']
  const text = typeof source === 'string' ? source : ''
  return {
    value: { ...rest, name: 'main', command: [...words, '-c'] },
    from,
    source: { from: [...from, 'source'], text },
  }
}

function filledContainer({ value, from, source }: PlacedContainer, index: number, scope: Scope): readonly Entry[] {
  const filled = asMapping(fill(value, scope))
  const run = Object.fromEntries(RUN.flatMap(key => (filled[key] == null ? [] : [[key, markOpen(filled[key])]])))
  const entry = containerEntry(index, { from, value: { ...filled, ...run } })
  if (source === undefined) return [entry]
  const at = ['spec', 'containers', index, 'args', 0]
  return [entry, { at, from: source.from, value: markOpen(fill(source.text, scope)) }]
}

/** What a workflow sets for all its pods, where a template does not (workflow/controller/workflowpod.go, addSchedulingConstraints). */
function inherited({ value }: Template, specs: readonly WorkflowSpec[]): readonly Entry[] {
  return ['nodeSelector', 'affinity', 'volumes', 'schedulerName', 'podMetadata'].flatMap((key): Entry[] => {
    const holder = specs.find(spec => valueAt(spec.holder.value, [...spec.path, key]) != null)
    if (holder === undefined || (key !== 'podMetadata' && value[key] != null)) return []
    const path = [...holder.path, key]
    const at = key === 'podMetadata' ? ['metadata'] : ['spec', key]
    const inner = valueAt(holder.holder.value, path)
    return [{ at, from: [...holder.holder.path, ...path], document: holder.holder.document, value: inner }]
  })
}

/** Seconds that one pod may take: its own deadline or timeout. */
function limitOf({ value }: Template, scope: Scope): number | undefined {
  const seconds = Number(fill(value['activeDeadlineSeconds'] ?? Number.NaN, scope))
  const timeout = parseDuration(String(fill(value['timeout'] ?? '', scope))) ?? Number.POSITIVE_INFINITY
  const limit = Math.min(Number.isInteger(seconds) ? seconds : Number.POSITIVE_INFINITY, timeout)
  return Number.isFinite(limit) ? limit : undefined
}

/** `podSpecPatch`, the workflow's and then the template's: a pod's spec as text that is laid over it. */
function patches(
  template: Template,
  specs: readonly WorkflowSpec[],
  scope: Scope,
  containers: readonly PlacedContainer[],
): readonly Entry[] {
  const holders = [
    ...specs.map(({ holder, path }) => ({ holder, path })),
    { holder: template.holder, path: template.path },
  ]
  return holders.flatMap(({ holder, path }) => {
    const written = valueAt(holder.value, [...path, 'podSpecPatch'])
    if (typeof written !== 'string') return []
    const from = [...holder.path, ...path, 'podSpecPatch']
    const patch = parsePatch(fill(written, scope))
    return patchEntries(patch, containers).map(entry => ({ ...entry, from, document: holder.document }))
  })
}

function parsePatch(text: unknown): Mapping {
  try {
    return asMapping(readYaml(String(text), 'podSpecPatch', 'kubectl')[0]?.value)
  } catch {
    return {}
  }
}

function patchEntries(patch: Mapping, containers: readonly PlacedContainer[]): readonly Omit<Entry, 'from'>[] {
  const { containers: patched, ...rest } = patch
  const ofPod = Object.entries(rest).flatMap(([key, value]) =>
    isMapping(value)
      ? Object.entries(value).map(([inner, each]) => ({ at: ['spec', key, inner], value: each }))
      : [{ at: ['spec', key], value }],
  )
  const ofContainers = (Array.isArray(patched) ? patched : []).flatMap(container => {
    const index = containers.findIndex(({ value }) => value['name'] === valueAt(container, ['name']))
    if (index < 0) return []
    return ['limits', 'requests'].flatMap(part =>
      Object.entries(asMapping(valueAt(container, ['resources', part]))).map(([name, value]) => ({
        at: ['spec', 'containers', index, 'resources', part, name],
        value,
      })),
    )
  })
  return [...ofPod, ...ofContainers]
}

/** A pod's or container's value without what it runs. */
function withoutRun(value: unknown): unknown {
  if (!isMapping(value)) return typeof value === 'string' ? undefined : value
  return Object.fromEntries(Object.entries(value).filter(([key]) => !RUN.includes(key)))
}

function asMapping(value: unknown): Mapping {
  return isMapping(value) ? value : {}
}
