import type { Place } from '../../errors.ts'
import type { Origin } from '../../sourced.ts'
import { type Gres, readGres } from './gres.ts'
import { countHosts } from './hosts.ts'
import type { Option } from './options.ts'
import { readNodes } from './quantities.ts'

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

/** Set by a directive or an option, and not by a variable. */
export function isTyped(settings: Settings, name: string): boolean {
  const setting = settings.get(name)
  return setting !== undefined && setting.source !== 'environment'
}

/** Nodes as sbatch asks for them: from `-N` and `-w`, never more than there are tasks. */
export function nodeRange(
  settings: Settings,
): { readonly least: number; readonly most: number | undefined } | undefined {
  const range = readNodes(settings.get('nodes')?.value ?? '')
  const hosts = settings.get('nodelist')?.text
  const listed = hosts === undefined ? undefined : countHosts(hosts)
  if (range === undefined && listed === undefined) return undefined
  const least = Math.max(range?.least ?? 0, listed ?? 0)
  const most = range === undefined || range.most === 0 ? undefined : range.most
  const tasks = countOf(settings, 'ntasks')
  if (tasks === undefined) return { least, most }
  if (tasks < least) return { least: tasks, most: tasks }
  return { least, most: most === undefined ? undefined : Math.min(most, tasks) }
}

/** The value of an option that is a number. */
export function countOf(settings: Settings, name: string): number | undefined {
  const text = settings.get(name)?.text
  return text === undefined ? undefined : Number(text)
}

/** GPU lists as sbatch joins them: `--gpus` and its kin without a name, `--gres` with one. */
export function gresOf(settings: Settings, name: string): readonly Gres[] | undefined {
  const value = settings.get(name)?.value
  if (value === undefined || (name === 'gres' && /^none$/i.test(value))) return []
  if (name === 'tres-per-task') return readGres(gresOfTres(value))
  return name === 'gres'
    ? readGres(value)
    : readGres(
        value
          .split(',')
          .map(item => (item === '' ? '' : `gpu:${item}`))
          .join(','),
      )
}

/** `gpu:a100:2` of `--tres-per-task=cpu:4,gres/gpu:a100:2`, where newer ones write `gres/gpu:a100=2`. */
function gresOfTres(value: string): string {
  return value
    .split(',')
    .flatMap(item => /^gres[/:](.+)$/.exec(item)?.[1]?.replace('=', ':') ?? [])
    .join(',')
}

/** CPUs of `--tres-per-task=cpu:4`. */
export function cpusOfTres(settings: Settings): number | undefined {
  const count = /(?:^|,)cpu[:=](\d+)/.exec(settings.get('tres-per-task')?.value ?? '')?.[1]
  return count === undefined ? undefined : Number(count)
}

/** What is asked for of a GPU that other jobs use at the same time: `shard:4`, `mps:50`. */
export function sharesOf(settings: Settings, name: string): readonly Gres[] {
  return gresOf(settings, name)?.filter(gres => gres.name === 'shard' || gres.name === 'mps') ?? []
}

/** The memory options that count. */
export function memoryOptions(settings: Settings): readonly Setting[] {
  const set = ['mem', 'mem-per-cpu', 'mem-per-gpu'].flatMap(name => settings.get(name) ?? [])
  const typed = set.filter(setting => setting.source !== 'environment')
  return typed.length > 0 ? typed : set
}
