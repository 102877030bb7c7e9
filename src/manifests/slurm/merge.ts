import type { Fault, Place } from '../../errors.ts'
import type { Origin } from '../../sourced.ts'
import { parseDuration } from '../../units.ts'
import type { Warning } from '../../warning.ts'
import type { Given } from './arguments.ts'
import { geometryLevels } from './checks.ts'
import { switchesOn } from './environment.ts'
import { type Option, sbatchOptions } from './options.ts'
import type { Translated } from './pbs.ts'
import type { Setting } from './settings.ts'
import { readValue } from './values.ts'

/** What is found wrong or odd on the way. */
export interface Collected {
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
export class Merge {
  settings: Map<string, Setting> = new Map()
  /** What this component's own directives have said. */
  private said = new Set<string>()
  /** Sockets, cores and threads while `-B` is set. */
  private geometry: (number | undefined)[] = []
  readonly collected: Collected

  constructor(collected: Collected) {
    this.collected = collected
  }

  /** Some options hold for the next component too, the others start anew. */
  startComponent(): void {
    this.settings = new Map([...this.settings].filter(([, setting]) => setting.option.carried))
    this.said = new Set()
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
    if (source === 'script') {
      this.warnOfValue(name, setting, this.said.has(name) ? before : undefined, valuePlace)
      this.said.add(name)
    }
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
