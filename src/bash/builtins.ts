import { words } from '../word-list.ts'
import { type Cell, type Field, findCell, noteAsked, setVariable } from './scope.ts'
import { assign, exportVariable, inputOf, type Outcome, type Shell, SUCCEEDED, UNKNOWN } from './shell.ts'
import type { Command } from './syntax.ts'
import { evaluateTestWords } from './tests.ts'
import { hasKnownFields, isKnown, unknownText } from './text.ts'
import { expandWord } from './words.ts'

/** A command of the shell itself. */
export type Builtin = (words: readonly Field[], command: Command, shell: Shell) => Outcome

const nothing: Builtin = () => SUCCEEDED

const declare: Builtin = (words, command, shell) => {
  const exported = command.name?.value === 'export' || words.some(word => /^-\w*x/.test(word.text))
  for (const argument of command.args) {
    if (argument.type === 'Assignment') assign(argument, shell, exported)
    else if (exported && /^\w+$/.test(argument.value)) exportVariable(argument.value, shell)
    else if (argument.text.includes('=')) assignByName(expandWord(argument, shell), exported, shell)
  }
  return SUCCEEDED
}

/** `export "$KEY"=$VALUE`: where the name is not known, any variable may be another one from here on. */
function assignByName(words: readonly Field[], exported: boolean, shell: Shell): void {
  for (const { text, place } of words) {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? []
    if (/^[A-Za-z_]\w*$/.test(name)) {
      setVariable(shell, name, { text: value, place })
      if (exported) exportVariable(name, shell)
    } else if (!isKnown(name)) forgetVariables(shell)
  }
}

function forgetVariables(shell: Shell): void {
  shell.mayBeSet = true
  for (const [name, variable] of shell.variables) {
    const cells = new Map(
      [...variable.cells.keys()].map(key => [key, { text: unknownText(`$${name}`), place: undefined }]),
    )
    shell.variables.set(name, { ...variable, cells })
  }
}

const test: Builtin = (_, command, shell) => {
  // In a test a variable that nobody set is empty, as it will be for bash.
  const words = command.args.flatMap(argument => (argument.type === 'Word' ? expandWord(argument, shell, 'empty') : []))
  const texts = words.map(word => word.text)
  if (texts.at(-1) === ']') texts.pop()
  return { flow: 'next', status: evaluateTestWords(texts, shell) }
}

const read: Builtin = (words, command, shell) => {
  const input = inputOf(command.redirects, shell)
  const place = shell.script.placeOf(command.pos)
  const toTheEnd = words.some((word, index) => /^-\w*d$/.test(word.text) && words[index + 1]?.text === '')
  const isArray = words.some(word => /^-\w*a/.test(word.text))
  const given = words.map(word => word.text).filter(text => /^[A-Za-z_]\w*$/.test(text))
  const names = given.length === 0 ? ['REPLY'] : given
  // What it was not given itself (a loop's input) is one line shorter for the next one.
  if (input !== undefined && input === shell.input && !toTheEnd) {
    if (input === '') return { flow: 'next', status: false }
    shell.input = input.includes('\n') ? input.slice(input.indexOf('\n') + 1) : ''
  }
  if (input === undefined || !hasKnownFields(input)) {
    const text = input !== undefined && toTheEnd ? input : undefined
    for (const name of names) setVariable(shell, name, { text: text ?? unknownText(`$${name}`), place })
    return UNKNOWN
  }
  const separator = command.prefix.find(part => part.type === 'Assignment' && part.name === 'IFS')
  const splitter = separator?.type === 'Assignment' && separator.value.type === 'Word' ? separator.value.value : ' '
  const line = toTheEnd ? input.trim() : (input.split('\n')[0] ?? '')
  const pieces = splitter.trim() === '' ? line.trim().split(/\s+/) : line.split(splitter)
  const [name] = names
  if (isArray && name !== undefined) {
    const cells = new Map(pieces.map((text, index) => [String(index), { text, place }]))
    shell.variables.set(name, { cells, isArray: true, exported: false })
  } else if (toTheEnd && name !== undefined) setVariable(shell, name, { text: input.trim(), place })
  else
    names.forEach((each, index) => {
      const rest = index === names.length - 1 ? pieces.slice(index).join(' ') : (pieces[index] ?? '')
      setVariable(shell, each, { text: rest, place })
    })
  return { flow: 'next', status: !toTheEnd }
}

const mapfile: Builtin = (words, command, shell) => {
  const input = inputOf(command.redirects, shell)
  const name = words.map(word => word.text).findLast(text => /^[A-Za-z_]\w*$/.test(text)) ?? 'MAPFILE'
  const place = shell.script.placeOf(command.pos)
  const lines = input === undefined ? undefined : input.replace(/\n$/, '').split('\n')
  const cells: [string, Cell][] = lines?.map((text, index) => [String(index), { text, place }]) ?? [
    ['?', { text: unknownText(`\${${name}[@]}`), place }],
  ]
  shell.variables.set(name, { cells: new Map(cells), isArray: true, exported: false })
  return SUCCEEDED
}

const setOptions: Builtin = (words, _, shell) => {
  const dashes = words.findIndex(word => word.text === '--')
  if (dashes >= 0) shell.positional = words.slice(dashes + 1)
  else if (words[0] !== undefined && !/^[-+]/.test(words[0].text)) shell.positional = words
  return SUCCEEDED
}

const shift: Builtin = ([count], _, shell) => {
  shell.positional = shell.positional?.slice(Number(count?.text ?? 1) || 1)
  return SUCCEEDED
}

const unset: Builtin = (words, _, shell) => {
  for (const word of words) shell.variables.delete(word.text)
  return SUCCEEDED
}

/** Options of the script's own, one at each call: none where it was given no arguments. */
const getopts: Builtin = ([options, name], command, shell) => {
  noteAsked(shell, '@')
  if (!shell.positional?.length) return { flow: 'next', status: false }
  const place = shell.script.placeOf(command.pos)
  const set = (variable: string, text: string): void => setVariable(shell, variable, { text, place })
  const index = findCell(shell, 'OPTIND')
  const at = typeof index === 'object' ? Number(index.text) : 1
  const word = shell.positional[at - 1]?.text
  if (options === undefined || name === undefined || !isKnown(word ?? '')) return UNKNOWN
  const [, letter, glued = ''] = /^-([^-])(.*)$/s.exec(word ?? '') ?? []
  const found = letter === undefined ? -1 : options.text.replace(/^:/, '').indexOf(letter)
  if (letter === undefined || letter === ':') {
    set('OPTIND', String(word === '--' ? at + 1 : at))
    return { flow: 'next', status: false }
  }
  const takesValue = options.text.replace(/^:/, '').charAt(found + 1) === ':'
  // Switches that are glued to one another are nobody's habit in a script's arguments.
  if (found >= 0 && !takesValue && glued !== '') return UNKNOWN
  set(name.text, found < 0 ? '?' : letter)
  if (found >= 0 && takesValue) set('OPTARG', glued === '' ? (shell.positional[at]?.text ?? '') : glued)
  set('OPTIND', String(found >= 0 && takesValue && glued === '' ? at + 2 : at + 1))
  return SUCCEEDED
}

/** Builtins, and functions that software modules define, that change nothing a run depends on. */
const WITHOUT_EFFECT = words(`
  echo printf pwd date hostname sleep wait trap ulimit umask hash alias unalias shopt module ml
  deactivate jobs disown times enable bind complete clear
`)

/** The builtins that do not run anything themselves. */
export const PLAIN_BUILTINS: Readonly<Record<string, Builtin>> = {
  ...Object.fromEntries(WITHOUT_EFFECT.map((name): [string, Builtin] => [name, nothing])),
  ':': nothing,
  true: nothing,
  false: () => ({ flow: 'next', status: false }),
  '[': test,
  test,
  export: declare,
  declare,
  typeset: declare,
  local: declare,
  readonly: declare,
  read,
  mapfile,
  readarray: mapfile,
  set: setOptions,
  shift,
  unset,
  getopts,
  exit: () => ({ flow: 'exit', status: undefined }),
  return: () => ({ flow: 'return', status: undefined }),
  break: () => ({ flow: 'break', status: undefined }),
  continue: () => ({ flow: 'continue', status: undefined }),
  type: () => UNKNOWN,
}
