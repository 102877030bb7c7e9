import type { Fault } from '../../errors.ts'
import type { Warning } from '../../warning.ts'
import { type Arguments, type Given, readArguments, type Word } from './arguments.ts'
import { checkTogether, hintCounts } from './checks.ts'
import { type Directive, type DirectiveWord, readDirectives } from './directives.ts'
import { switchesOn, variables } from './environment.ts'
import { type Collected, Merge } from './merge.ts'
import { type Option, sbatchOptions } from './options.ts'
import { readForeignDirectives } from './pbs.ts'
import { checkShape } from './script-shape.ts'
import type { Settings } from './settings.ts'

/** What sbatch is given: a script and all that adds to it. */
export interface SbatchInput {
  /** What messages call the script. */
  readonly file: string
  readonly script: string
  readonly schedulerArguments: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
}

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
      if (index === 0) {
        collected.faults.push(...foreign.faults)
        collected.warnings.push(...(foreign.ignored ?? []))
      }
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
      ...head.ignored.map(
        ({ isPart, reason, place }): Warning => ({
          code: isPart === true ? 'directive-cut' : 'directive-ignored',
          text: reason,
          place,
        }),
      ),
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
