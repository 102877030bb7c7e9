import type { Fault } from '../../errors.ts'
import type { Warning } from '../../warning.ts'
import { type Accepted, type Given, type OptionTable, optionTable, readArguments, type Word } from './arguments.ts'
import { eachLine, splitWords } from './directives.ts'

/** An option of sbatch that a `#PBS` or `#BSUB` line stands for. */
export interface Translated {
  readonly name: string
  readonly value: string | undefined
  readonly from: Given<Accepted>
}

/** What `#PBS` or `#BSUB` lines ask for, in terms of sbatch. */
export interface ForeignDirectives {
  readonly options: readonly Translated[]
  readonly faults: readonly Fault[]
  /** Words that ask for GPUs and that sbatch passes over. */
  readonly ignored?: readonly Warning[]
}

/** Values that the `#SBATCH` lines have set before: some PBS options add to them. */
export type ValueSoFar = (name: string) => string | undefined

/** Lines without `#` that sbatch passes over before it stops looking for `#PBS` and `#BSUB`. */
const commandLinesRead = 100

/**
 * Reads the `#BSUB` lines of a script or, where there are none, its `#PBS` lines. sbatch obeys them, below commands too, and over
 * `#SBATCH` lines.
 */
export function readForeignDirectives(script: string, file: string, valueSoFar: ValueSoFar): ForeignDirectives {
  if (!script.includes('#BSUB') && !script.includes('#PBS')) return { options: [], faults: [] }
  const bsub = findWords(script, '#BSUB', file)
  if (bsub !== undefined) {
    const words = bsub.words.map((word, index) =>
      index % 2 === 0 && word.text === '-cwd' ? { ...word, text: '-c' } : word,
    )
    return translate({ ...bsub, words }, bsubOptions(), translateBsub)
  }
  const pbs = findWords(script, '#PBS', file)
  if (pbs === undefined) return { options: [], faults: [] }
  const earlier = new Map<string, string | undefined>()
  return translate(pbs, pbsOptions(), given => {
    const found = translatePbs(given, name => (earlier.has(name) ? earlier.get(name) : valueSoFar(name)))
    for (const option of found.options) earlier.set(option.name, option.value)
    return found
  })
}

interface FoundWords {
  readonly words: readonly Word[]
  readonly faults: readonly Fault[]
}

function findWords(script: string, mark: string, file: string): FoundWords | undefined {
  const words: Word[] = []
  const faults: Fault[] = []
  let found = false
  let commands = 0
  for (const line of eachLine(script)) {
    if (line.text.startsWith(mark)) {
      found = true
      const split = splitWords(line, mark.length, file)
      words.push(...split.words)
      if (split.fault !== undefined) faults.push(split.fault)
    } else if (!line.text.startsWith('#')) {
      commands += 1
      if (commands > commandLinesRead) break
    }
  }
  return found ? { words, faults } : undefined
}

function translate(
  found: FoundWords,
  table: OptionTable<Accepted>,
  one: (given: Given<Accepted>) => ForeignDirectives,
): ForeignDirectives {
  const read = readArguments(found.words, table)
  const translated = read.given.map(one)
  const stray = found.words[read.end]
  const strayFaults = stray === undefined ? [] : [{ place: stray.place, message: `${stray.text} is no option` }]
  return {
    options: translated.flatMap(each => each.options),
    faults: [...found.faults, ...read.faults, ...strayFaults, ...translated.flatMap(each => each.faults)],
    ignored: translated.flatMap(each => each.ignored ?? []),
  }
}

function foreignTable(required: string, none: string, names: Readonly<Record<string, string>>): OptionTable<Accepted> {
  const named = new Map(Object.entries(names).map(([name, letter]) => [letter, name]))
  const option = (letter: string, argument: Accepted['argument']): Accepted => ({
    name: named.get(letter) ?? letter,
    short: letter,
    argument,
    abbreviable: named.has(letter),
  })
  return optionTable([
    ...[...required].map(letter => option(letter, 'required')),
    ...[...none].map(letter => option(letter, 'none')),
  ])
}

function bsubOptions(): OptionTable<Accepted> {
  return foreignTable('ceJmMnoqW', 'x', {
    cwd: 'c',
    error_file: 'e',
    job_name: 'J',
    hostname: 'm',
    memory_limit: 'M',
    output_file: 'o',
    queue_name: 'q',
    time: 'W',
    exclusive: 'x',
  })
}

function pbsOptions(): OptionTable<Accepted> {
  return foreignTable('aAcCejJklmMNopqrStuvW', 'hIVz', {
    start_time: 'a',
    account: 'A',
    checkpoint: 'c',
    working_dir: 'C',
    error: 'e',
    hold: 'h',
    interactive: 'I',
    join: 'j',
    job_array: 'J',
    keep: 'k',
    resource_list: 'l',
    mail_options: 'm',
    mail_user_list: 'M',
    job_name: 'N',
    out: 'o',
    priority: 'p',
    destination: 'q',
    rerunable: 'r',
    script_path: 'S',
    array: 't',
    running_user: 'u',
    variable_list: 'v',
    all_env: 'V',
    attributes: 'W',
    no_std: 'z',
  })
}

const bsubNames: Readonly<Record<string, string>> = {
  c: 'chdir',
  e: 'error',
  J: 'job-name',
  m: 'nodelist',
  M: 'mem-per-cpu',
  n: 'ntasks',
  o: 'output',
  q: 'partition',
  W: 'time',
  x: 'exclusive',
}

function translateBsub(given: Given<Accepted>): ForeignDirectives {
  const letter = given.option.short ?? ''
  const name = bsubNames[letter]
  if (name === undefined) return { options: [], faults: [] }
  const value = given.value === undefined ? undefined : bsubValue(letter, given.value)
  if (value === '' && letter === 'n') {
    return {
      options: [],
      faults: [{ place: given.valuePlace, message: `${given.written}: a number of tasks is missing` }],
    }
  }
  return { options: [{ name, value, from: given }], faults: [] }
}

function bsubValue(letter: string, value: string): string {
  if (letter === 'm') return value.replaceAll(' ', ',')
  // Memory is in KiB there, and of a range of tasks the larger number counts.
  if (letter === 'M' && /\d$/.test(value)) return `${value}K`
  if (letter === 'n' && value.includes(',')) return value.slice(value.indexOf(',') + 1)
  return value
}

const pbsNames: Readonly<Record<string, string>> = {
  a: 'begin',
  A: 'account',
  e: 'error',
  h: 'hold',
  J: 'array',
  M: 'mail-user',
  N: 'job-name',
  o: 'output',
  p: 'nice',
  q: 'partition',
  t: 'array',
}

function translatePbs(given: Given<Accepted>, valueSoFar: ValueSoFar): ForeignDirectives {
  const letter = given.option.short ?? ''
  const value = given.value ?? ''
  const as = (name: string, text: string | undefined): ForeignDirectives => ({
    options: [{ name, value: text, from: given }],
    faults: [],
  })
  if (letter === 'l') return readResources(given, value, valueSoFar)
  if (letter === 'm') return as('mail-type', mailTypes(value))
  if (letter === 'v') {
    const before = valueSoFar('export')
    return as('export', before === undefined ? value : `${before},${value}`)
  }
  if (letter === 'W') {
    if (/^depend=/i.test(value)) return as('dependency', value.slice('depend='.length))
    const mask = /^umask=(.*)$/i.exec(value)?.[1]
    if (mask === undefined || /^0?[0-7]{1,3}$/.test(mask) || !/^\d/.test(mask)) return { options: [], faults: [] }
    return { options: [], faults: [{ place: given.valuePlace, message: `${given.written}: not a file mode mask` }] }
  }
  const name = pbsNames[letter]
  return name === undefined ? { options: [], faults: [] } : as(name, given.value)
}

function mailTypes(value: string): string {
  if (/n/i.test(value)) return 'NONE'
  const types = [/b/i.test(value) && 'BEGIN', /e/i.test(value) && 'END', /a/i.test(value) && 'FAIL']
  return types.filter(type => type !== false).join(',')
}

/** Resources of `-l` that stand for one option of sbatch, and what ends their value. */
const resources: readonly (readonly [key: string, end: ',' | ':', name: string | undefined])[] = [
  ['arch=', ',', undefined],
  ['cput=', ',', 'time'],
  ['file=', ',', 'tmp'],
  ['host=', ',', undefined],
  ['mem=', ',', 'mem'],
  ['mpiprocs=', ':', 'ntasks-per-node'],
  ['naccelerators=', ',', 'accelerators'],
  ['ncpus=', ':', 'mincpus'],
  ['nice=', ',', 'nice'],
  ['nodes=', ',', 'nodes'],
  ['opsys=', ',', undefined],
  ['other=', ',', undefined],
  ['pcput=', ',', 'time'],
  ['pmem=', ',', undefined],
  ['proc=', ',', 'constraint'],
  ['pvmem=', ',', undefined],
  ['select=', ':', 'nodes-selected'],
  ['software=', ',', undefined],
  ['vmem=', ',', undefined],
  ['walltime=', ',', 'time'],
]

/** `-l nodes=2:ppn=4:gpus=2,walltime=1:00:00`: keys are found wherever they begin, other text is passed over. */
function readResources(given: Given<Accepted>, list: string, valueSoFar: ValueSoFar): ForeignDirectives {
  const options: Translated[] = []
  const faults: Fault[] = []
  const add = (name: string, value: string): number => options.push({ name, value, from: given })
  const latest = (name: string): string | undefined =>
    options.findLast(option => option.name === name)?.value ?? valueSoFar(name)
  let accelerators = 0
  let passedOver = ''
  let at = 0
  while (at < list.length) {
    if (/^accelerator=/i.test(list.slice(at))) {
      at += 'accelerator='.length
      if (/^true/i.test(list.slice(at))) accelerators = Math.max(1, accelerators)
      continue
    }
    const resource = resources.find(([key]) => list.startsWith(key, at))
    if (resource === undefined) {
      passedOver += list.charAt(at)
      at += 1
      continue
    }
    const [key, separator, name] = resource
    const end = list.indexOf(separator, at + key.length)
    const value = list.slice(at + key.length, end === -1 ? undefined : end)
    at = end === -1 ? list.length : end + 1
    if (name === 'nodes') for (const [option, text] of nodeOptions(value)) add(option, text)
    else if (name === 'nodes-selected') add('nodes', value)
    else if (name === 'accelerators') {
      if (/^\s*\+?\d+$/.test(value) && Number(value) > 0) accelerators = Number(value)
      else faults.push({ place: given.valuePlace, message: `naccelerators=${value}: not a whole number above 0` })
    } else if (name === 'mem' || name === 'tmp') add(name, value.replace(/b$/i, ''))
    else if (name === 'constraint') {
      const before = latest('constraint')
      add('constraint', before === undefined ? value : `${value},${before}`)
      const next = list.indexOf(',', at)
      at = next === -1 ? list.length : next + 1
    } else if (name !== undefined) add(name, value)
  }
  addCpusPerTask(list, latest, add)
  if (accelerators > 0) {
    const before = latest('gres')
    add('gres', before === undefined ? `gpu:${accelerators}` : `${before},gpu:${accelerators}`)
  }
  const ignored = (passedOver.match(/\w*gpu\w*=[^:,+]*/gi) ?? []).map((word): Warning => {
    const text = `${word} of ${given.written} is read by PBS alone: sbatch passes over it; ask with #SBATCH --gres=gpu:1`
    return { code: 'directive-ignored', text, place: given.valuePlace }
  })
  return { options, faults, ignored }
}

/** PBS Pro's select, ncpus and mpiprocs together say how many CPUs a task gets. */
function addCpusPerTask(list: string, latest: ValueSoFar, add: (name: string, value: string) => number): void {
  if (!['select=', 'ncpus=', 'mpiprocs='].every(key => list.includes(key))) return
  const cpus = Number(latest('mincpus'))
  const tasks = Number(latest('ntasks-per-node'))
  if (cpus > tasks) add('cpus-per-task', String(Math.floor(cpus / tasks)))
}

/** `2:ppn=4:gpus=2`, `2:ppn=4+1:ppn=8`, `node7`. */
function nodeOptions(value: string): readonly (readonly [string, string])[] {
  const options: (readonly [string, string])[] = []
  let nodes = 0
  let processes = 0
  const hosts: string[] = []
  for (const part of value.split(/[+:]/)) {
    if (part.startsWith('gpus=')) options.push(['gpus-per-node', part.slice('gpus='.length)])
    else if (part.startsWith('ppn=')) processes += Number(/^\d+/.exec(part.slice('ppn='.length))?.[0] ?? 0)
    else if (/^\d/.test(part)) nodes += Number(/^\d+/.exec(part)?.[0])
    else if (/^[a-z]/i.test(part)) hosts.push(part)
  }
  if (nodes > 0) options.push(['nodes', String(nodes)])
  if (processes > 0) options.push(['ntasks', String(processes * Math.max(1, nodes))])
  if (hosts.length > 0) options.push(['nodelist', hosts.join(',')])
  return options
}
