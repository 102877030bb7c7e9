import type { Place } from '../errors.ts'
import { type Builtin, PLAIN_BUILTINS } from './builtins.ts'
import { fromCshell, isCshell } from './csh.ts'
import { fileBeside } from './files.ts'
import { changeFolder, pathBesideManifest } from './folders.ts'
import { printedBy } from './programs.ts'
import { type Cell, type Field, type Findings, mergeVariables, setVariable, type Variable } from './scope.ts'
import {
  assign,
  type Flow,
  inputOf,
  type Outcome,
  RAN,
  type Shell,
  type StartedCommand,
  SUCCEEDED,
  UNKNOWN,
} from './shell.ts'
import {
  type Assignment,
  type BashOrigin,
  type Command,
  type CommandNode,
  type CompoundList,
  type FunctionNode,
  linesAsWritten,
  type PipelineNode,
  parseBash,
  type Statement,
  type Word,
  type WordPart,
} from './syntax.ts'
import { evaluateTest } from './tests.ts'
import { globToRegExp, isKnown, isShort, isUnknown, showText, unknownText } from './text.ts'
import { evaluateArithmetic, expandText, expandWord } from './words.ts'

/** Commands that are followed in one script. */
const MOST_STEPS = 10_000
/** A command of more words counts as so many more: functions may hand thousands of them round. */
const WORDS_OF_STEP = 50
/** Passes through all loops around a command; with more, a loop is one pass that is made so many times. */
const MOST_PASSES = 256
const DEEPEST = 40

/** What a script starts with. */
export interface BashStart {
  readonly file: string
  readonly firstLine: number
  readonly lines: BashOrigin['lines']
  readonly variables: Readonly<Record<string, string>>
  /** Undefined: the script's own arguments, of which none were given. */
  readonly arguments: readonly Cell[] | undefined
  readonly findings: Findings
  /** Where it runs, seen from the manifest's folder. */
  readonly folder?: string | undefined
  /** Texts of files beside the manifest that scripts may source, by their paths. */
  readonly sourcedFiles?: ReadonlyMap<string, string> | undefined
}

/** Follows a script as bash would, as far as its text says where it goes, and lists the commands it would start. */
export function followScript(
  text: string,
  start: BashStart,
): {
  started: StartedCommand[]
  errors: { message: string; place: Place }[]
  unfollowed: Place | undefined
  /** Files beside the manifest that it sources. */
  sources: readonly string[]
} {
  const source = isCshell(text) ? fromCshell(text) : text
  const script = parseBash(source, { place: { file: start.file, line: start.firstLine }, lines: start.lines })
  const variables = Object.entries(start.variables).map(([name, value]): [string, Variable] => [
    name,
    { cells: new Map([['0', { text: value, place: undefined }]]), isArray: false, exported: true },
  ])
  const shell: Shell = {
    script,
    variables: new Map(variables),
    positional: start.arguments,
    mayBeSet: false,
    findings: start.findings,
    functions: new Map(),
    course: { started: [], steps: 0, branches: 0, unfollowed: undefined },
    writtenFiles: new Map(),
    copies: new Map(),
    conditional: false,
    arm: undefined,
    repetitions: 1,
    passes: 1,
    background: false,
    input: undefined,
    depth: 0,
    folder: start.folder ?? '',
    sourcedFiles: start.sourcedFiles ?? new Map(),
    sources: new Set(),
  }
  runList(script.tree.commands, shell)
  const errors = (script.tree.errors ?? []).map(error => ({ message: error.message, place: script.placeOf(error.pos) }))
  const { started, unfollowed } = shell.course
  return { started, errors, unfollowed, sources: [...shell.sources] }
}

function fork(shell: Shell): Shell {
  return { ...shell, variables: new Map(shell.variables) }
}

function runList(statements: readonly Statement[] | CompoundList, shell: Shell): Outcome {
  let outcome: Outcome = SUCCEEDED
  for (const statement of 'type' in statements ? statements.commands : statements) {
    outcome = runStatement(statement, shell)
    if (outcome.flow !== 'next') return outcome
  }
  return outcome
}

function runStatement(statement: Statement, shell: Shell): Outcome {
  if (statement.background !== true) return runAndOr(statement.command, shell)
  runAndOr(statement.command, { ...fork(shell), background: true })
  return SUCCEEDED
}

function runAndOr(command: Statement['command'], shell: Shell): Outcome {
  if (command.type !== 'AndOr') return runPipeline(command, shell)
  let outcome: Outcome = SUCCEEDED
  const assumedBefore = shell.findings.assumedEmpty
  command.commands.forEach((next, index) => {
    if (outcome.flow !== 'next') return
    const operator = index === 0 ? undefined : command.operators[index - 1]
    const decisive = outcome.status === 'ran' ? true : outcome.status
    if (operator === undefined) outcome = runPipeline(next, shell)
    else if (decisive === (operator === '&&'))
      outcome = runUnlessUsage(inner => runPipeline(next, inner), assumedBefore, shell)
    else if (decisive === undefined) {
      const arms = runArms([arm => runPipeline(next, arm)], true, shell)
      outcome = { flow: arms.flow, status: undefined }
    } else if (outcome.status === 'ran' && operator === '||' && !leaves(next)) {
      // A program that may fail: what stands in for it then may run.
      runArms([arm => runPipeline(next, arm)], true, shell)
    }
  })
  return outcome
}

/**
 * Goes a way that is decided, unless it ends the script because something was not given: `[ -z "$MODEL" ] && exit 1`
 * explains how the script is called, and whoever calls it will give it. So does one that only comes after a loop over arguments
 * has found none.
 */
function runUnlessUsage(way: (shell: Shell) => Outcome, assumedBefore: number, shell: Shell): Outcome {
  const { findings } = shell
  const asked = findings.assumedEmpty > assumedBefore
  if (!asked && (shell.positional !== undefined || findings.assumedEmpty === 0)) return way(shell)
  const tried = fork(shell)
  const startedBefore = shell.course.started.length
  const outcome = way(tried)
  if (outcome.flow === 'exit') {
    shell.course.started.length = startedBefore
    if (!asked && findings.missingArguments.size === 0) findings.missingArguments.set('@', shell.script.placeOf(0))
    return UNKNOWN
  }
  Object.assign(shell, tried)
  return outcome
}

/** Whether a command only ends the script or says something, as in `… || exit 1`. */
function leaves(command: PipelineNode): boolean {
  const name = command.type === 'Command' ? command.name?.value : undefined
  return name !== undefined && /^(exit|return|true|:|echo|break|continue|die|kill)$/.test(name)
}

function runPipeline(command: PipelineNode, shell: Shell): Outcome {
  if (command.type !== 'Pipeline') return runCommand(command, shell)
  const negations = command.prefixes.filter(prefix => prefix.type === 'Negation').length
  const [only, ...others] = command.commands
  if (only === undefined) return SUCCEEDED
  let outcome: Outcome
  if (others.length === 0) outcome = runCommand(only, shell)
  else {
    let input: string | undefined
    outcome = RAN
    for (const part of command.commands) {
      const inner = { ...fork(shell), input }
      outcome = { flow: 'next', status: runCommand(part, inner).status }
      input = part.type === 'Command' ? printedByCommand(part, inner) : undefined
    }
  }
  const { flow, status } = outcome
  return negations % 2 === 0 || typeof status !== 'boolean'
    ? { flow, status: negations > 0 ? undefined : status }
    : { flow, status: !status }
}

/**
 * Takes every one of several ways of which one is taken, each from the same start; afterwards only what all agree on is
 * known. `orNone`: it may be that none is taken. A way that leaves the script or loop has no say in what comes after.
 */
function runArms(arms: readonly ((shell: Shell) => Outcome)[], orNone: boolean, shell: Shell): Outcome {
  const branch = shell.course.branches++
  const survivors: Map<string, Variable>[] = orNone ? [shell.variables] : []
  let flow: Flow = 'next'
  arms.forEach((run, index) => {
    const inner: Shell = { ...fork(shell), conditional: true, arm: { branch, arm: index } }
    const outcome = run(inner)
    if (outcome.flow === 'next') survivors.push(inner.variables)
    else flow = outcome.flow
    shell.mayBeSet ||= inner.mayBeSet
  })
  const [first, ...others] = survivors
  if (first === undefined) return { flow, status: undefined }
  shell.variables = others.reduce(mergeVariables, first)
  return UNKNOWN
}

function runCommand(command: CommandNode | CompoundList, shell: Shell): Outcome {
  if (shell.course.steps++ > MOST_STEPS || shell.depth > DEEPEST) {
    shell.course.unfollowed ??= shell.script.placeOf(command.pos)
    return { flow: 'exit', status: undefined }
  }
  switch (command.type) {
    case 'Command':
      return runSimpleCommand(command, shell)
    case 'CompoundList':
      return runList(command, shell)
    case 'BraceGroup':
      return runList(command.body, shell)
    case 'Subshell': {
      const { status } = runList(command.body, fork(shell))
      return { flow: 'next', status }
    }
    case 'Redirected': {
      const before = shell.input
      shell.input = inputOf(command.redirects, shell)
      const outcome = runCommand(command.command, shell)
      shell.input = before
      return outcome
    }
    case 'Function':
      shell.functions.set(command.name.value, command)
      return SUCCEEDED
    case 'If':
      return runIf([command, ...command.elif], command.else, shell)
    case 'For':
      return runFor(command.name.value, command.wordlist, command.body, shell)
    case 'ArithmeticFor': {
      if (command.initialize !== undefined) evaluateArithmetic(command.initialize, shell)
      const { test, update } = command
      const pause = test === undefined ? pauseOf(command.body) : undefined
      if (pause !== undefined) return holdForever(pause, shell)
      return runWhile(
        inner => (test === undefined ? 1 : evaluateArithmetic(test, inner)),
        inner => {
          const outcome = runList(command.body, inner)
          if (update !== undefined) evaluateArithmetic(update, inner)
          return outcome
        },
        shell,
      )
    }
    case 'While': {
      const wanted = command.kind === 'while'
      const pause = isConstant(command.clause, wanted) ? pauseOf(command.body) : undefined
      if (pause !== undefined) return holdForever(pause, shell)
      return runWhile(
        inner => {
          const askedBefore = inner.findings.askedArguments
          const { status } = runList(command.clause, inner)
          if (inner.findings.askedArguments > askedBefore) noteOptions(command.pos, shell)
          return typeof status === 'boolean' ? Number(status === wanted) : undefined
        },
        inner => runList(command.body, inner),
        shell,
      )
    }
    case 'Case':
      return runCase(command, shell)
    case 'TestCommand':
      return { flow: 'next', status: evaluateTest(command.expression, shell) }
    case 'ArithmeticCommand': {
      const value = command.expression && evaluateArithmetic(command.expression, shell)
      return { flow: 'next', status: value === undefined ? undefined : value !== 0 }
    }
    case 'Select':
      return runArms([arm => runList(command.body, arm)], true, shell)
    case 'Coproc':
      return runCommand(command.body, { ...fork(shell), background: true })
  }
}

interface Way {
  readonly clause: CompoundList
  readonly then: CompoundList
}

function runIf(ways: readonly Way[], otherwise: CompoundList | undefined, shell: Shell): Outcome {
  const [way, ...others] = ways
  if (way === undefined) return otherwise === undefined ? SUCCEEDED : runList(otherwise, shell)
  const assumedBefore = shell.findings.assumedEmpty
  const { flow, status } = runList(way.clause, shell)
  if (flow !== 'next') return { flow, status }
  if (status === true) return runUnlessUsage(inner => runList(way.then, inner), assumedBefore, shell)
  if (status === false) return runIf(others, otherwise, shell)
  const rest: ((arm: Shell) => Outcome)[] = [arm => runList(way.then, arm)]
  for (const other of others) {
    rest.push(arm => {
      const clause = runList(other.clause, arm)
      return clause.status === false ? SUCCEEDED : runList(other.then, arm)
    })
  }
  if (otherwise !== undefined) rest.push(arm => runList(otherwise, arm))
  return runArms(rest, otherwise === undefined, shell)
}

function runFor(name: string, words: readonly Word[] | undefined, body: CompoundList, shell: Shell): Outcome {
  const place = shell.script.placeOf(body.pos)
  const fields = words?.flatMap(word => expandWord(word, shell)) ?? shell.positional ?? []
  const goesOverArguments = words === undefined || words.some(word => /^"?\$[@*]"?$/.test(word.text))
  if (goesOverArguments && shell.positional === undefined) noteOptions(body.pos, shell)
  const anyValue = { text: unknownText(`$${name}`), place }
  if (fields.some(field => isUnknown(field.text))) {
    setVariable(shell, name, anyValue)
    return leaveLoop(runArms([arm => runList(body, arm)], true, shell))
  }
  const { passes, repetitions } = shell
  if (passes * fields.length > MOST_PASSES) {
    setVariable(shell, name, anyValue)
    shell.repetitions *= fields.length
    const outcome = runList(body, shell)
    shell.repetitions = repetitions
    return leaveLoop(outcome)
  }
  shell.passes *= Math.max(1, fields.length)
  let outcome: Outcome = RAN
  for (const field of fields) {
    setVariable(shell, name, { text: field.text, place: field.place })
    outcome = runList(body, shell)
    if (outcome.flow !== 'next' && outcome.flow !== 'continue') break
  }
  shell.passes = passes
  return leaveLoop(outcome)
}

function leaveLoop(outcome: Outcome): Outcome {
  return outcome.flow === 'return' || outcome.flow === 'exit' ? outcome : RAN
}

/** A loop over the script's own arguments: it has options, and nobody gave any. */
function noteOptions(position: number, shell: Shell): void {
  const { missingArguments } = shell.findings
  if (!missingArguments.has('@')) missingArguments.set('@', shell.script.placeOf(position))
}

/** `while true`, `while :`, `until false`: the loop has no end of its own. */
function isConstant(clause: CompoundList, wanted: boolean): boolean {
  const [only, ...others] = clause.commands.map(({ command }) => command)
  if (only?.type !== 'Command' || others.length > 0) return false
  return (wanted ? ['true', ':'] : ['false']).includes(only.name?.value ?? '')
}

/** The `sleep` of a loop that does nothing else but say or look that all is well. */
function pauseOf(body: CompoundList): Command | undefined {
  const commands = body.commands.map(({ command }) => command)
  const isIdle = commands.every(
    each => each.type === 'Command' && /^(sleep|echo|printf|date|:|nvidia-smi)$/.test(each.name?.value ?? ''),
  )
  return commands.find((each): each is Command => isIdle && each.type === 'Command' && each.name?.value === 'sleep')
}

/** A loop that only sleeps holds the machine as `sleep infinity` does, and nothing after it is reached. */
function holdForever(pause: Command, shell: Shell): Outcome {
  const place = shell.script.placeOf(pause.pos)
  start(
    pause,
    [
      { text: 'sleep', place },
      { text: 'infinity', place },
    ],
    shell,
  )
  return { flow: 'exit', status: undefined }
}

/** Goes round as long as the condition is known; a loop whose end is not known is one pass that may be made. */
function runWhile(test: (shell: Shell) => number | undefined, body: (shell: Shell) => Outcome, shell: Shell): Outcome {
  const tried = fork(shell)
  const startedBefore = shell.course.started.length
  for (let round = 0; round < MOST_PASSES / shell.passes; round++) {
    const goesOn = test(tried)
    if (goesOn === undefined) break
    const outcome: Outcome = goesOn === 0 ? { flow: 'break', status: 'ran' } : body(tried)
    if (outcome.flow === 'next' || outcome.flow === 'continue') continue
    shell.variables = tried.variables
    return outcome.flow === 'break' ? RAN : outcome
  }
  shell.course.started.length = startedBefore
  return leaveLoop(runArms([arm => body(arm)], true, shell))
}

function runCase(command: Extract<CommandNode, { type: 'Case' }>, shell: Shell): Outcome {
  const word = expandText(command.word, shell, 'empty')
  const matches = command.items.map(item => {
    const tests = item.pattern.map(pattern => {
      const text = expandText(pattern, shell)
      if (text === '*') return true
      return isKnown(word) && isShort(word) ? globToRegExp(text, 'whole')?.test(word) : undefined
    })
    return tests.includes(true) ? true : tests.includes(undefined) ? undefined : false
  })
  const first = matches.findIndex(match => match !== false)
  if (first < 0) return SUCCEEDED
  const chosen = command.items[first]
  if (isKnown(word) && matches[first] === true && chosen !== undefined) return runList(chosen.body, shell)
  const possible = command.items.filter((_, index) => matches[index] !== false)
  return runArms(
    possible.map(item => (arm: Shell) => runList(item.body, arm)),
    !matches.includes(true),
    shell,
  )
}

function inputPlace(command: Command, shell: Shell): Place {
  const heredoc = command.redirects.find(redirect => redirect.type === 'HereDoc')
  return shell.script.placeOf(heredoc?.type === 'HereDoc' ? heredoc.body.pos : command.pos)
}

/** `id=$(sbatch --parsable job.sh)`: what is submitted there counts like what stands on a line of its own. */
function startSubmissions(command: Command, shell: Shell): void {
  for (const part of [...command.prefix, ...command.args]) {
    const word = part.type === 'Assignment' ? part.value : part
    for (const submission of word.type === 'Word' ? (word.parts ?? []).flatMap(submissionsIn) : []) {
      runSimpleCommand(submission, shell)
    }
  }
}

function submissionsIn(part: WordPart): readonly Command[] {
  if (part.type === 'DoubleQuoted') return part.parts.flatMap(submissionsIn)
  if (part.type !== 'CommandExpansion' || !/\bsbatch\b/.test(part.text)) return []
  const command = part.script?.commands[0]?.command
  const first = command?.type === 'Pipeline' ? command.commands[0] : command
  return first?.type === 'Command' && first.name?.value === 'sbatch' ? [first] : []
}

function runSimpleCommand(command: Command, shell: Shell): Outcome {
  startSubmissions(command, shell)
  if (command.name === undefined) {
    for (const part of command.prefix) if (part.type === 'Assignment') assign(part, shell)
    return SUCCEEDED
  }
  const words = [command.name, ...command.args].flatMap(argument =>
    argument.type === 'Word' ? expandWord(argument, shell) : expandAssignment(argument, shell),
  )
  const [name] = words
  if (name === undefined) return SUCCEEDED
  shell.course.steps += Math.floor(words.length / WORDS_OF_STEP)
  const builtin = Object.hasOwn(BUILTINS, name.text) ? BUILTINS[name.text] : undefined
  if (builtin !== undefined && !holdsOut(words)) {
    noteWrittenFile(command, words, shell)
    return builtin(words.slice(1), command, shell)
  }
  const called = shell.functions.get(name.text)
  if (called !== undefined) return callFunction(called, words.slice(1), shell)
  noteWrittenFile(command, words, shell)
  if (shell.positional === undefined && isToldByArguments(command)) noteOptions(command.pos, shell)
  start(command, words, shell)
  noteCopy(words, shell)
  noteEdit(words, shell)
  return MAY_FAIL.test(name.text) ? UNKNOWN : RAN
}

/** `python train.py "$@"`: all that the program is told are the script's own arguments. */
function isToldByArguments({ args }: Command): boolean {
  const written = args.map(({ text }) => text)
  const at = written.findIndex(text => /^"?\$[@*]"?$/.test(text))
  const program = written.slice(0, at).findLastIndex(text => /\.(py|sh)"?$/.test(text))
  return at > 0 && program >= 0 && written.slice(program + 1, at).every(text => !/^-|=/.test(text))
}

/** A sleep of days or without end is what the script is for: it holds the machine until somebody comes. */
function holdsOut([name, time]: readonly Field[]): boolean {
  return name?.text === 'sleep' && /^(inf|infinity|\d+d|\d{5,})$/.test(time?.text ?? '')
}

/** Programs that are started for their exit code. */
const MAY_FAIL = /^(grep|egrep|which|diff|cmp|pgrep|nc|ping|curl|nvidia-smi|squeue|sacct)$/

function start(command: Command, words: readonly Field[], shell: Shell): void {
  const input = inputOf(command.redirects, shell)
  const place = inputPlace(command, shell)
  shell.course.started.push({
    words: words.map(word => ({ ...word, text: shell.copies.get(word.text) ?? word.text })),
    place: shell.script.placeOf(command.pos),
    input: input === undefined ? undefined : { text: input, place, lines: linesAsWritten(input, place) },
    ...environmentOf(command, shell),
    writtenFiles: new Map(shell.writtenFiles),
    conditional: shell.conditional,
    arm: shell.arm,
    repetitions: shell.repetitions,
    background: shell.background,
    folder: shell.folder,
  })
}

/** What a command sees: exported variables, and those set in front of it. */
function environmentOf(command: Command, shell: Shell): Pick<StartedCommand, 'environment' | 'exported'> {
  const exported: Record<string, string> = {}
  for (const [key, variable] of shell.variables) {
    const text = variable.exported ? variable.cells.get('0')?.text : undefined
    if (text !== undefined) exported[key] = text
  }
  for (const part of command.prefix) {
    if (part.type === 'Assignment' && part.value.type === 'Word') exported[part.name] = expandText(part.value, shell)
  }
  const set = Object.entries(exported)
  const isWhole = set.every(([, text]) => isKnown(text))
  return { exported, environment: isWhole ? exported : Object.fromEntries(set.filter(([, text]) => isKnown(text))) }
}

/** `name=value` as a word of a command that is no declaration. */
function expandAssignment(assignment: Assignment, shell: Shell): Field[] {
  const place = shell.script.placeOf(assignment.pos)
  if (assignment.value.type !== 'Word') return [{ text: assignment.text, place }]
  return [{ text: `${assignment.name}=${expandText(assignment.value, shell)}`, place }]
}

function callFunction(called: FunctionNode, words: readonly Field[], shell: Shell): Outcome {
  const before = shell.positional
  shell.positional = words
  shell.depth++
  const outcome = runCommand(called.body, shell)
  shell.depth--
  shell.positional = before
  return outcome.flow === 'exit' ? outcome : { flow: 'next', status: outcome.status }
}

/** Files that set up the machine's software, not the run. */
const SETUP_FILE =
  /(activate|bashrc|profile|\.zshrc|conda\.sh|mamba\.sh|modules?\.sh|bash|lmod|init|vars\.sh|setup\.sh)$/

const source: Builtin = (words, _, shell) => {
  const [word, ...given] = words
  if (word === undefined) return SUCCEEDED
  const written = shell.writtenFiles.get(showText(word.text))
  if (written !== undefined) return evaluate(written, shell)
  if (SETUP_FILE.test(showText(word.text))) return SUCCEEDED
  const file = fileBeside(shell, word.text)
  if (file !== undefined) shell.sources.add(file)
  const text = file === undefined ? undefined : shell.sourcedFiles.get(file)
  if (file !== undefined && text !== undefined) return runSourced(text, { file, line: 1 }, given, shell)
  shell.mayBeSet = true
  return SUCCEEDED
}

/** Runs another file in the same shell, with arguments of its own where it is given any. */
function runSourced(text: string, place: Place, given: readonly Field[], shell: Shell): Outcome {
  const before = shell.positional
  if (given.length > 0) shell.positional = given
  const outcome = evaluate(text, shell, { place, lines: 'as-written' })
  if (given.length > 0) shell.positional = before
  return outcome.flow === 'return' ? { flow: 'next', status: outcome.status } : outcome
}

/** `cd folder`: where relative paths begin from here on. */
const changeDirectory: Builtin = (words, _, shell) => {
  const word = words.find(each => !/^-[LPe]+$/.test(each.text))
  const path = word && pathBesideManifest(showText(word.text), isKnown(word.text))
  // `$SLURM_SUBMIT_DIR/jobs` begins at the manifest's folder, wherever the shell is.
  const from = word !== undefined && path !== showText(word.text) ? '' : shell.folder
  shell.folder = changeFolder(from, path)
  return SUCCEEDED
}

/** Runs text that a script made (`eval`, or a file it wrote and sources), or one that lies beside it, in the same shell. */
function evaluate(text: string, shell: Shell, origin?: BashOrigin): Outcome {
  if (shell.depth > DEEPEST) return UNKNOWN
  const before = shell.script
  shell.script = parseBash(text, origin ?? { place: before.placeOf(0), lines: undefined })
  shell.depth++
  const outcome = runList(shell.script.tree.commands, shell)
  shell.script = before
  shell.depth--
  return outcome
}

/** `let a=1 b=2` is `((a=1)); ((b=2))`. */
const evaluateLet: Builtin = (_, command, shell) => {
  const expressions = command.args.map(argument => `((${argument.type === 'Word' ? argument.value : argument.text}))`)
  return evaluate(expressions.join(';'), shell)
}

const runNamed: Builtin = (words, command, shell) =>
  /^-[vV]$/.test(words[0]?.text ?? '') ? UNKNOWN : startAgain(words, command, shell)

const BUILTINS: Readonly<Record<string, Builtin>> = {
  ...PLAIN_BUILTINS,
  source,
  '.': source,
  cd: changeDirectory,
  pushd: changeDirectory,
  popd: (_, __, shell) => changeDirectory([], __, shell),
  eval: (words, _, shell) => evaluate(words.map(word => word.text).join(' '), shell),
  let: evaluateLet,
  command: runNamed,
}

/** `command program …`: the program, without functions of its name. */
function startAgain(words: readonly Field[], command: Command, shell: Shell): Outcome {
  const [, ...rest] = command.args
  const [name] = command.args
  if (name?.type !== 'Word' || words.length === 0) return SUCCEEDED
  return runSimpleCommand(
    { ...command, name, suffix: rest, args: rest, redirects: command.redirects },
    { ...shell, functions: new Map() },
  )
}

/** What a command of known output prints, for a file it is written to or a pipe. */
function printedByCommand(command: Command, shell: Shell): string | undefined {
  if (command.name === undefined) return undefined
  const name = expandText(command.name, shell)
  const args = command.args.flatMap(argument => (argument.type === 'Word' ? expandWord(argument, shell) : []))
  return printedBy(
    name,
    args.map(field => field.text),
    inputOf(command.redirects, shell),
    false,
  )
}

/** Remembers what `cat > file <<EOF`, `echo … >> file` and `tee file <<EOF` write. */
function noteWrittenFile(command: Command, words: readonly Field[], shell: Shell): void {
  const isTee = words[0]?.text === 'tee'
  const redirect = command.redirects.find(each => each.type === 'Redirect' && /^(>|>>|>\|)$/.test(each.operator))
  const target = redirect?.type === 'Redirect' ? redirect.target : undefined
  const path = isTee
    ? words.slice(1).find(word => !word.text.startsWith('-'))?.text
    : target && expandText(target, shell)
  if (path === undefined || path === '/dev/null') return
  const appends = redirect?.type === 'Redirect' ? redirect.operator === '>>' : words.some(word => word.text === '-a')
  const text = isTee ? inputOf(command.redirects, shell) : printedByCommand(command, shell)
  const before = appends ? shell.writtenFiles.get(showText(path)) : ''
  if (text !== undefined && before !== undefined) shell.writtenFiles.set(showText(path), showText(before + text))
  else if (!appends) forgetFile(path, shell)
}

/** Remembers what `cp a b` makes, so that the copy is read as its original. */
function noteCopy(words: readonly Field[], shell: Shell): void {
  const [name, from, to, ...more] = words.filter(word => !word.text.startsWith('-'))
  if (name?.text !== 'cp' || from === undefined || to === undefined || more.length > 0) return
  const written = shell.writtenFiles.get(showText(from.text))
  if (written !== undefined) shell.writtenFiles.set(showText(to.text), written)
  else if (isUnknown(to.text) || /\.\w+$/.test(to.text))
    shell.copies.set(to.text, shell.copies.get(from.text) ?? from.text)
}

/** `sed -i … file` and its kin: what the file says then is not known. */
function noteEdit(words: readonly Field[], shell: Shell): void {
  const edits =
    /^(sed|perl|yq)$/.test(words[0]?.text ?? '') && words.some(word => /^(-\w*i\w*|--in-?place)\b/.test(word.text))
  const path = words.at(-1)?.text
  if (edits && path !== undefined) forgetFile(path, shell)
}

/** A file of unknown content: whoever names it names something that cannot be read. */
function forgetFile(path: string, shell: Shell): void {
  shell.writtenFiles.delete(showText(path))
  shell.copies.set(path, unknownText(showText(path)))
}
