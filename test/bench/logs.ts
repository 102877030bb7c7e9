/**
 * How well logs are read: `npm run bench:logs -- FOLDER [--json] [--case=WORD] [--generic]`. FOLDER holds cases as test/logs/cases does: a
 * folder each, with run.log and expected.yaml. The program is run as a user runs it, and graded by its public JSON. `--generic` asks only
 * the reader for any program: how logs fare whose program nobody knows.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { learn } from '../../src/commands/learn.ts'
import { generic } from '../../src/logs/generic.ts'
import { readProgress } from '../../src/logs/index.ts'
import { LearnedDocument } from '../../src/logs/schema.ts'
import { processTerminal } from '../../src/terminal.ts'
import { ExpectedProgress } from './logs/case-schema.ts'
import { type Grade, gradeProgress, type LearnedLog } from './logs/grade.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    case: { type: 'string', default: '' },
    generic: { type: 'boolean', default: false },
  },
})
const [folder] = positionals
if (folder === undefined) {
  console.error('which folder of cases? npm run bench:logs -- FOLDER')
  process.exit(2)
}
const root = resolve(folder)
const names = readdirSync(root).filter(
  name => name.includes(values.case) && existsSync(join(root, name, 'expected.yaml')),
)
const graded: { readonly name: string; readonly grade: Grade }[] = []
for (const name of names) {
  const expected = ExpectedProgress.parse(parse(readFileSync(join(root, name, 'expected.yaml'), 'utf8')))
  const log = await learnFrom(join(root, name, 'run.log'))
  graded.push({ name, grade: gradeProgress(expected, log) })
}
for (const { name, grade } of graded) show(name, grade)
summarize()

async function learnFrom(file: string): Promise<LearnedLog> {
  const printed: string[] = []
  const terminal = processTerminal(false)
  if (values.generic) {
    const progress = readProgress({ head: readFileSync(file) }, file, [generic])
    printed.push(JSON.stringify({ schemaVersion: 1, logs: [{ file, ...progress }] }))
  } else {
    const stdout = { ...terminal.stdout, write: (text: string) => printed.push(text) > 0 }
    await learn([file], { format: 'json', dryRun: true, color: false }, { ...terminal, stdout })
  }
  const [log] = LearnedDocument.parse(JSON.parse(printed.join(''))).logs
  if (log === undefined) throw new Error(`no answer for ${file}`)
  return log
}

function isWhole({ facts, warnings }: Grade): boolean {
  return facts.every(({ verdict }) => verdict === 'right') && warnings.missing.length === 0
}

function show(name: string, grade: Grade): void {
  console.log(`${isWhole(grade) ? 'right' : 'WRONG'} ${name}`)
  for (const { key, expected, got, verdict } of grade.facts) {
    if (verdict !== 'right') console.log(`  ${verdict}: ${key}: expected ${expected}, got ${got}`)
  }
  const { missing, spurious } = grade.warnings
  if (missing.length > 0) console.log(`  not warned of: ${missing.join(', ')}`)
  for (const { code, text } of spurious) console.log(`  also warned of: ${code}: ${text}`)
}

function summarize(): void {
  const facts = graded.flatMap(({ grade }) => grade.facts)
  const count = (wanted: string): number => facts.filter(({ verdict }) => verdict === wanted).length
  const sum = (figure: (one: Grade['warnings']) => number): number =>
    graded.reduce((total, { grade }) => total + figure(grade.warnings), 0)
  const totals = {
    cases: { whole: graded.filter(({ grade }) => isWhole(grade)).length, total: graded.length },
    facts: { right: count('right'), total: facts.length, unknown: count('unknown'), guessed: count('guessed') },
    warnings: {
      reported: sum(one => one.expected - one.missing.length),
      total: sum(one => one.expected),
      spurious: sum(one => one.spurious.length),
    },
  }
  const { cases, facts: f, warnings: w } = totals
  console.log(`
cases wholly right     ${cases.whole} of ${cases.total}
facts right            ${f.right} of ${f.total}
  unknown, though known ${f.unknown}
  guessed               ${f.guessed}
warnings reported      ${w.reported} of ${w.total}
  others                ${w.spurious}`)
  if (values.json) console.log(JSON.stringify(totals))
}
