import type { Fault, Place } from '../../errors.ts'
import type { Origin } from '../../sourced.ts'
import { parseDuration } from '../../units.ts'
import type { Warning } from '../../warning.ts'
import { type Arguments, type Given, readArguments, type Word } from './arguments.ts'
import { checkTogether, geometryLevels, hintCounts } from './checks.ts'
import { type Directive, type DirectiveWord, readDirectives } from './directives.ts'
import { switchesOn, variables } from './environment.ts'
import { type Option, sbatchOptions } from './options.ts'
import { readForeignDirectives, type Translated } from './pbs.ts'
import { checkShape } from './script-shape.ts'
import { readValue } from './values.ts'

/** What sbatch is given: a script and all that adds to it. */
export interface SbatchInput {
  /** What messages call the script. */
  readonly file: string
  readonly script: string
  readonly schedulerArguments: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** The value an option ends up with, and who set it. */
export interface Setting {
  readonly option: Option
  /** As given. */
  readonly value: string | undefined
  /** As sbatch keeps and prints it. */
  readonly text: string | undefined
  readonly written: string
  readonly origin: Origin
  readonly place: Place
  readonly source: 'script' | 'pbs' | 'environment' | 'command line'
}

/** Options by their full name. */
export type Settings = ReadonlyMap<string, Setting>

/** What sbatch makes of its input before it talks to a controller. */
export interface SbatchReading {
  /** One for a plain job, several for a heterogeneous one. */
  readonly components: readonly Settings[]
  /** Why sbatch itself would refuse it: every reason. */
  readonly faults: readonly Fault[]
  readonly warnings: readonly Warning[]
  readonly directives: readonly Directive[]
  /** Offset in the script where the comment block that sbatch searches ends. */
  readonly headEnd: number
}

/**
 * Merges directives, `#PBS` and `#BSUB` lines, SBATCH_ variables and options as sbatch 22.05 does, later ones over earlier ones
 * (sbatch(1)).
 */
export function readSbatch(input: SbatchInput): SbatchReading {
  const parts = splitAtColons(input.schedulerArguments)
  const commandLine = parts.map(part => readArguments(part, sbatchOptions()))
  const wrapped = wrappedScript(input.schedulerArguments) !== undefined
  const script = wrapped ? '' : input.script
  const head = readDirectives(script, input.file)
  const groups = wrapped ? [] : groupByComponent(head.directives)
  const shape = wrapped ? { faults: [], warnings: [] } : checkShape(script, input.file)
  const collected: Collected = { faults: [...shape.faults, ...head.faults], warnings: [...shape.warnings] }
  const merge = new Merge(collected)
  commandLine.forEach((part, index) => {
    collected.faults.push(...part.faults, ...strayOption(parts[index], part))
    // sbatch looks through all its options once before it begins; what holds for later components holds from the first on.
    for (const given of part.given) merge.set(given, 'environment')
  })
  if (isOn(input.environment, 'SBATCH_IGNORE_PBS')) merge.setVariable('SBATCH_IGNORE_PBS', 'ignore-pbs', '')
  const ignoresPbs = commandLine.some(part => part.given.some(given => given.option.name === 'ignore-pbs'))
  const environment = { ...input.environment }
  const components: Settings[] = []
  for (let index = 0; index < Math.max(1, groups.length, parts.length); index += 1) {
    merge.startComponent()
    merge.setAll(readGroup(groups[index] ?? [], collected), 'script')
    if (!ignoresPbs && !merge.settings.has('ignore-pbs')) {
      const foreign = readForeignDirectives(script, input.file, name => merge.settings.get(name)?.text)
      if (index === 0) collected.faults.push(...foreign.faults)
      for (const option of foreign.options) merge.setTranslated(option)
    }
    for (const [variable, option] of variables) {
      const value = environment[variable]
      if (value !== undefined) merge.setVariable(variable, option, value)
    }
    merge.setAll(commandLine[Math.min(index, parts.length - 1)]?.given ?? [], 'command line')
    // sbatch hands a hint on to itself: the next component finds it in the environment.
    if (hintCounts(merge.settings)) environment['SLURM_HINT'] = merge.settings.get('hint')?.text
    components.push(merge.settings)
  }
  const faults = unique(collected.faults)
  return {
    components,
    faults: [...faults, ...unique(components.flatMap(component => checkTogether(component, faults.length === 0)))],
    warnings: [
      ...collected.warnings,
      ...head.ignored.map((each): Warning => ({ code: 'directive-ignored', text: each.reason, place: each.place })),
      ...(head.hasOldName ? [oldName(input.file)] : []),
    ],
    directives: head.directives,
    headEnd: head.end,
  }
}

/** The script that `--wrap` stands for; undefined where the options hold no `--wrap`. Directives inside the text do not count. */
export function wrappedScript(schedulerArguments: readonly string[]): string | undefined {
  const given = splitAtColons(schedulerArguments).flatMap(part => readArguments(part, sbatchOptions()).given)
  const text = given.findLast(each => each.option.name === 'wrap')?.value
  return text === undefined ? undefined : `#!/bin/sh\n${text}\n`
}

interface Collected {
  readonly faults: Fault[]
  readonly warnings: Warning[]
}

/** Options that are two names of one thing: setting one changes what the other, if set, says. */
const twins: Readonly<Record<string, string>> = {
  exclusive: 'oversubscribe',
  oversubscribe: 'exclusive',
  requeue: 'no-requeue',
  'no-requeue': 'requeue',
  cluster: 'clusters',
  clusters: 'cluster',
  nodelist: 'nodefile',
  nodefile: 'nodelist',
  'core-spec': 'thread-spec',
  'thread-spec': 'core-spec',
}

/** What the other of two twins says once this one is set; the rest say the same. */
const opposites: Readonly<Record<string, string | undefined>> = {
  nodelist: undefined,
  nodefile: undefined,
  'core-spec': 'unset',
  'thread-spec': 'unset',
}

/** The settings of one component after the other. */
class Merge {
  settings: Map<string, Setting> = new Map()
  /** Sockets, cores and threads while `-B` is set. */
  private geometry: (number | undefined)[] = []
  readonly collected: Collected

  constructor(collected: Collected) {
    this.collected = collected
  }

  /** Some options hold for the next component too, the others start anew. */
  startComponent(): void {
    this.settings = new Map([...this.settings].filter(([, setting]) => setting.option.carried))
  }

  setAll(given: readonly Given<Option>[], source: Setting['source']): void {
    for (const each of given) if (!each.option.commandLineOnly) this.set(each, source)
  }

  set(given: Given<Option>, source: Setting['source']): void {
    this.put(given.option, given.value, given.written, given.origin, given.place, given.valuePlace, source)
  }

  setTranslated({ name, value, from }: Translated): void {
    const option = sbatchOptions().byName.get(name)
    if (option === undefined) return
    if (name === 'mail-type' && value === '') {
      this.collected.faults.push({ place: from.place, message: `${from.written}: not a kind of mail` })
      return
    }
    this.put(option, value, from.written, from.origin, from.place, from.valuePlace, 'pbs')
  }

  setVariable(variable: string, name: string, value: string): void {
    const option = sbatchOptions().byName.get(name)
    if (option === undefined) return
    if (option.argument === 'none' && !switchesOn(value)) {
      this.takeBack(name)
      return
    }
    const place = { file: `environment variable ${variable}` }
    this.put(option, value, `${variable}=${value}`, { kind: 'environment', variable }, place, place, 'environment')
  }

  private put(
    option: Option,
    value: string | undefined,
    written: string,
    origin: Origin,
    place: Place,
    valuePlace: Place,
    source: Setting['source'],
  ): void {
    const name = option.name === 'tasks-per-node' ? 'ntasks-per-node' : option.name
    const before = this.settings.get(name)
    if (endsHere(name, value)) {
      const message = `${written}: sbatch prints something and submits nothing`
      this.collected.faults.push({ place, message })
      return
    }
    const reading = readValue(
      option.kind,
      value === '' && option.argument === 'optional' ? undefined : value,
      before?.text,
    )
    if ('expected' in reading) {
      const hint = name === 'time' ? timeHint(value ?? '') : undefined
      const message = `${written}: not understood, expected ${reading.expected}`
      this.collected.faults.push(
        hint === undefined ? { place: valuePlace, message } : { place: valuePlace, message, hint },
      )
      return
    }
    const text = textOf(option, reading.text, before)
    const setting: Setting = { option, value, text, written, origin, place, source }
    if (source === 'script') this.warnOfValue(name, setting, before, valuePlace)
    this.settings.set(name, setting)
    this.changeTwin(name, name in opposites ? opposites[name] : text)
    this.alignGeometry(name)
  }

  /** `-B 2:4` and its three long forms are the same three numbers: what is set last counts for both. */
  private alignGeometry(name: string): void {
    const short = this.settings.get('extra-node-info')
    if (short === undefined) return
    if (name === 'extra-node-info')
      this.geometry = (short.value ?? '').split(':').map(level => Number(level) || undefined)
    else if (geometryLevels.includes(name))
      this.geometry[geometryLevels.indexOf(name)] = Number(this.settings.get(name)?.text)
    else return
    const text = this.geometry
      .map((count, level) => (count === undefined ? '' : `${level === 0 ? '' : ':'}${count}`))
      .join('')
    this.settings.set('extra-node-info', { ...short, text: text === '' ? 'unset' : text })
    for (const [level, each] of geometryLevels.entries()) {
      const setting = this.settings.get(each)
      // -2 is how sbatch prints a number that it does not have.
      if (setting !== undefined) this.settings.set(each, { ...setting, text: String(this.geometry[level] ?? -2) })
    }
  }

  private takeBack(name: string): void {
    this.settings.delete(name)
    this.changeTwin(name, 'unset')
  }

  private changeTwin(name: string, text: string | undefined): void {
    const twin = twins[name]
    const other = twin === undefined ? undefined : this.settings.get(twin)
    if (twin !== undefined && other !== undefined) this.settings.set(twin, { ...other, text })
  }

  private warnOfValue(name: string, setting: Setting, before: Setting | undefined, place: Place): void {
    const value = setting.value ?? ''
    if (/\$[\w{(]|`/.test(value)) {
      const text = `${setting.written}: Slurm expands nothing in a directive and takes this as it stands`
      this.collected.warnings.push({ code: 'variable-in-directive', text, place })
    }
    if (
      before?.source === 'script' &&
      before.place !== setting.place &&
      before.text !== setting.text &&
      name !== 'mail-type'
    ) {
      const text = `${setting.written} stands after ${before.written} (line ${before.place.line}) and replaces it`
      this.collected.warnings.push({ code: 'last-flag-wins', text, place })
    }
  }
}

function endsHere(name: string, value: string | undefined): boolean {
  return (
    name === 'help' || name === 'usage' || name === 'version' || (name === 'gres' && /^(help|list)$/i.test(value ?? ''))
  )
}

/** Some flags have a word of their own, and `-v -v` is 2. */
function textOf(option: Option, text: string | undefined, before: Setting | undefined): string | undefined {
  switch (option.name) {
    case 'requeue':
    case 'no-requeue':
    case 'oversubscribe':
      return option.name
    case 'verbose':
    case 'quiet':
      return String(Number(before?.text ?? 0) + 1)
    case 'propagate':
      return text === '' ? 'ALL' : text
    default:
      return text
  }
}

/** People write `2h30m`; Slurm's own form of it. */
function timeHint(value: string): string | undefined {
  const seconds = parseDuration(value)
  if (seconds === undefined) return undefined
  const minutes = Math.ceil(seconds / 60)
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
  const clock = [hours, minutes % 60, 0].map(part => String(part).padStart(2, '0')).join(':')
  return `${value} is ${days === 0 ? clock : `${days}-${clock}`}`
}

function groupByComponent(directives: readonly Directive[]): readonly (readonly DirectiveWord[])[] {
  const groups: DirectiveWord[][] = [[]]
  for (const directive of directives) {
    if (directive.separates) groups.push([])
    groups.at(-1)?.push(...directive.words)
  }
  return groups
}

function readGroup(words: readonly DirectiveWord[], collected: Collected): readonly Given<Option>[] {
  const given: Given<Option>[] = []
  let rest: readonly DirectiveWord[] = words
  // sbatch stops at the first stray word; the words behind it are read too, for their faults.
  for (;;) {
    const read = readArguments(rest, sbatchOptions())
    given.push(...read.given)
    collected.faults.push(...read.faults)
    const stray = rest[read.end]
    if (stray === undefined) return given
    const message = `${stray.text}: a word that is no option and no option's value`
    const hint = /^[=-]$/.test(stray.text)
      ? 'no blanks around ='
      : 'quote a value that holds blanks; begin a remark with #'
    collected.faults.push({ place: stray.place, message, hint })
    const next = rest.findIndex((word, index) => index > read.end && /^-[^-]|^--./.test(word.text))
    if (next === -1) return given
    rest = rest.slice(next)
  }
}

/** `sbatch -n1 : -n2`: each part is for one component. */
function splitAtColons(options: readonly string[]): readonly (readonly Word[])[] {
  const parts: Word[][] = [[]]
  for (const text of options) {
    if (text === ':') parts.push([])
    else parts.at(-1)?.push({ text, origin: { kind: 'command-line', option: text }, place: { file: 'command line' } })
  }
  return parts
}

function strayOption(words: readonly Word[] | undefined, read: Arguments<Option>): readonly Fault[] {
  const stray = words?.[read.end]
  if (stray === undefined) return []
  const message = `${stray.text}: not an option; sbatch would take it for the script`
  return [{ place: stray.place, message }]
}

function isOn(environment: SbatchInput['environment'], variable: string): boolean {
  const value = environment[variable]
  return value !== undefined && switchesOn(value)
}

function oldName(file: string): Warning {
  const text = 'lines begin with #SLURM: sbatch reads them as #SBATCH, with a complaint'
  return { code: 'directive-ignored', text, place: { file } }
}

function unique(faults: readonly Fault[]): readonly Fault[] {
  const seen = new Map(faults.map(fault => [`${JSON.stringify(fault.place)} ${fault.message}`, fault]))
  return [...seen.values()]
}
