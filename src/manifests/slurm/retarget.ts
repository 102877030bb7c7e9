import { GpufareError } from '../../errors.ts'
import { findGpuHint } from '../../gpu-hints.ts'
import type { Manifest } from '../../manifest.ts'
import type { Retarget } from '../manifest-format.ts'
import { asksThroughOthers } from './child-jobs.ts'
import { type Directive, type DirectiveWord, eachLine } from './directives.ts'
import { gpuOptions, readShape, type Shape } from './gpu-count.ts'
import { readGpuType } from './gpu-type.ts'
import { readGres } from './gres.ts'
import { readSbatch, type SbatchReading, wrappedScript } from './read-sbatch.ts'
import { countOf, type Setting, type Settings } from './settings.ts'

/** A part of the script to put other text in. */
interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * The script asking for other GPUs: the values that ask for them, and the partition, nodes and tasks where these have to follow;
 * every other byte stays. Throws GpufareError where that cannot be done, or where the result would not read as it should.
 */
export function retargetScript(manifest: Manifest, target: Retarget): string {
  if (wrappedScript(manifest.schedulerArguments) !== undefined) refuse('--wrap has no directives to change')
  const reading = readAll(manifest)
  if (asksThroughOthers(manifest, reading)) refuse('the script asks for nothing itself, the jobs that it submits do')
  const [settings] = reading.components
  if (settings === undefined || reading.components.length > 1) {
    refuse('a heterogeneous job asks for GPUs in several places')
  }
  if (settings.has('nodelist')) refuse(`${settings.get('nodelist')?.written} names the nodes`)
  const wanted = wantedValues(settings, readShape(settings), target)
  const edits = [...wanted].flatMap(([name, value]) => editOption(manifest, reading, settings, name, value))
  const added = [...wanted].filter(([name, value]) => value !== undefined && !settings.has(name))
  const text = applyEdits(manifest.text, [...edits, ...addLines(manifest.text, reading.directives, added)])
  checkResult({ ...manifest, text }, settings, target)
  return text
}

function readAll(manifest: Manifest): SbatchReading {
  return readSbatch({ ...manifest, file: manifest.name, script: manifest.text })
}

function refuse(why: string): never {
  throw new GpufareError(`cannot ask for other GPUs: ${why}`, 2, 'change the request by hand and quote it again')
}

/** Options that have to say something else, with what they shall say; undefined takes one out. */
function wantedValues(settings: Settings, shape: Shape, target: Retarget): ReadonlyMap<string, string | undefined> {
  const { replicas, gpusPerReplica, gresType, partition } = target
  const typed = (count: number): string => (gresType === undefined ? String(count) : `${gresType}:${count}`)
  const perNode = `gpu:${typed(gpusPerReplica)}`
  const wanted = new Map<string, string | undefined>()
  const used = gpuOptions.filter(name => settings.has(name))
  if (used.length === 0) wanted.set('gres', perNode)
  for (const name of used) {
    if (name === 'gres') wanted.set(name, otherGres(settings.get('gres')?.value ?? '', perNode))
    else if (name === 'gpus-per-node') wanted.set(name, typed(gpusPerReplica))
    else if (name === 'gpus') wanted.set(name, typed(replicas * gpusPerReplica))
    else if (name === 'gpus-per-task') wanted.set(name, typed(gpusOfTask(shape, target)))
    else refuse(`--${name} hangs on the sockets of the machine`)
  }
  if (partition !== undefined) wanted.set('partition', partition)
  if (replicas !== shape.nodes.value || shape.range !== undefined) wanted.set('nodes', String(replicas))
  for (const [name, count] of followingTasks(settings, shape, target)) wanted.set(name, String(count))
  const constraint = settings.get('constraint')
  if (constraint !== undefined && namesGpus(constraint)) wanted.set('constraint', undefined)
  return wanted
}

/** Resources that are no GPUs stay. */
function otherGres(value: string, gpus: string): string {
  const items = value.split(',').filter(item => item !== '' && !/^none$/i.test(item))
  const others = items.filter(item => (readGres(item) ?? []).every(gres => gres.name !== 'gpu'))
  return [gpus, ...others].join(',')
}

/** As many GPUs as a task had, where the new node can be shared out so; else all of the node's. */
function gpusOfTask(shape: Shape, target: Retarget): number {
  const before = shape.gpuCount.value / Math.max(1, shape.tasks)
  return target.gpusPerReplica % before === 0 ? before : target.gpusPerReplica
}

/** Numbers of tasks that were one for each GPU, or one for each node, stay so. */
function followingTasks(settings: Settings, shape: Shape, target: Retarget): readonly (readonly [string, number])[] {
  const { replicas, gpusPerReplica } = target
  const changed: (readonly [string, number])[] = []
  const perTask = settings.has('gpus-per-task') ? gpusOfTask(shape, target) : undefined
  const perNode = countOf(settings, 'ntasks-per-node')
  const newPerNode = perTask === undefined ? gpusPerReplica : gpusPerReplica / perTask
  const perNodeFollows = perTask !== undefined || (perNode === shape.gpusPerNode.value && perNode > 1)
  if (perNode !== undefined && perNodeFollows && perNode !== newPerNode) changed.push(['ntasks-per-node', newPerNode])
  const tasks = countOf(settings, 'ntasks')
  if (tasks === undefined) return changed
  const follows = followedBy(tasks, shape, replicas, replicas * gpusPerReplica, perTask)
  if (follows !== tasks) changed.push(['ntasks', follows])
  return changed
}

function followedBy(tasks: number, shape: Shape, nodes: number, gpus: number, perTask: number | undefined): number {
  if (perTask !== undefined) return gpus / perTask
  if (tasks === shape.nodes.value) return nodes
  return tasks === shape.gpuCount.value ? gpus : tasks
}

/** `a100`, `a100|h100`: nothing but GPU types, which the new request has to be free of. */
function namesGpus(constraint: Setting): boolean {
  const words = (constraint.value ?? '').split(/[&|,[\]()]+/).filter(word => word !== '')
  const gpus = words.filter(word => findGpuHint(word) !== undefined || /^volta/i.test(word))
  if (gpus.length > 0 && gpus.length < words.length) {
    refuse(`${constraint.written} names a GPU type among other features`)
  }
  return gpus.length > 0
}

function editOption(
  manifest: Manifest,
  reading: SbatchReading,
  settings: Settings,
  name: string,
  value: string | undefined,
): readonly Edit[] {
  const setting = settings.get(name)
  if (setting === undefined || (value !== undefined && setting.value === value)) return []
  if (setting.source === 'pbs') refuse(`${setting.written} stands in a line for another scheduler`)
  if (setting.source !== 'script') refuse(`${setting.written} comes from the ${setting.source}, not from the script`)
  const words = reading.directives.flatMap(directive => directive.words)
  const index = words.findIndex(word => word.place === setting.place)
  const word = words[index]
  if (word === undefined) refuse(`${setting.written} was not found again`)
  return [editWord(manifest.text, reading.directives, setting, value, word, words[index + 1])]
}

function editWord(
  script: string,
  directives: readonly Directive[],
  setting: Setting,
  value: string | undefined,
  word: DirectiveWord,
  next: DirectiveWord | undefined,
): Edit {
  const letter = `-${setting.option.short ?? ''}`
  const isLong = word.text.startsWith('--')
  const isAlone = isLong ? !word.text.includes('=') : word.text === letter
  if (!isLong && !word.text.startsWith(letter)) refuse(`${word.text} holds several options in one word`)
  const last = isAlone ? next : word
  if (last === undefined) refuse(`${word.text} has no value`)
  if (value === undefined) return removal(script, directives, word, last)
  if (isAlone) return { start: last.start, end: last.end, text: value }
  const head = isLong ? word.text.slice(0, word.text.indexOf('=') + 1) : letter
  return { start: word.start, end: word.end, text: `${head}${value}` }
}

/** Takes an option out: its whole line where it stands alone on it. */
function removal(script: string, directives: readonly Directive[], first: DirectiveWord, last: DirectiveWord): Edit {
  const words = directives.find(each => each.words.includes(first))?.words ?? []
  if (!words.includes(last)) refuse(`${first.text} has its value on another line`)
  if (words[0] !== first || words.at(-1) !== last) {
    return { start: first.start, end: words[words.indexOf(last) + 1]?.start ?? last.end, text: '' }
  }
  const end = script.indexOf('\n', last.end)
  return { start: script.lastIndexOf('\n', first.start) + 1, end: end === -1 ? script.length : end + 1, text: '' }
}

function addLines(
  script: string,
  directives: readonly Directive[],
  added: readonly (readonly [string, string | undefined])[],
): readonly Edit[] {
  if (added.length === 0) return []
  const after = directives.at(-1)?.line ?? 1
  for (const line of eachLine(script)) {
    if (line.number !== after) continue
    const end = line.start + line.text.length
    const lineEnd = line.text.endsWith('\r') ? '\r\n' : '\n'
    const lines = added.map(([name, value]) => `#SBATCH --${name}=${value}`).join(lineEnd)
    return script.charAt(end) === '\n'
      ? [{ start: end + 1, end: end + 1, text: `${lines}${lineEnd}` }]
      : [{ start: end, end, text: `${lineEnd}${lines}` }]
  }
  return refuse('the script is empty')
}

function applyEdits(script: string, edits: readonly Edit[]): string {
  return [...edits]
    .sort((left, right) => right.start - left.start)
    .reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), script)
}

/** Reads the new text as sbatch would: it has to ask for what was wanted, and for all else as before. */
function checkResult(manifest: Manifest, before: Settings, target: Retarget): void {
  const reading = readAll(manifest)
  const [settings] = reading.components
  const [fault] = reading.faults
  if (fault !== undefined || settings === undefined) refuse(fault?.message ?? 'nothing would be left')
  const shape = readShape(settings)
  const types = readGpuType(settings, []).names.map(name => name.value)
  const isWanted =
    shape.nodes.value === target.replicas &&
    shape.gpuCount.value === target.replicas * target.gpusPerReplica &&
    (target.gresType === undefined || types.includes(target.gresType)) &&
    (target.partition === undefined || settings.get('partition')?.value === target.partition)
  if (!isWanted) refuse('its options hang together in another way')
  const free = new Set([...gpuOptions, 'partition', 'nodes', 'ntasks', 'ntasks-per-node', 'constraint'])
  for (const name of new Set([...before.keys(), ...settings.keys()])) {
    if (!free.has(name) && before.get(name)?.text !== settings.get(name)?.text) refuse(`--${name} would change with it`)
  }
}
