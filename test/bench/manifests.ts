/**
 * How well manifests are read: `npm run bench:manifests -- FOLDER [--json] [--case=WORD] [--all]`. FOLDER holds cases as test/cases does:
 * a folder each, with the job as its user keeps it and expected.yaml. The program is run as a user runs it, and graded by its public JSON.
 * `--case` takes only cases whose name contains a word, `--all` shows what a message must say beside what was said.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { readTables } from '../../src/pricing-data.ts'
import { CaseInput, CaseInputs, ExpectedAnswer, ExpectedRefusal } from './manifests/case-schema.ts'
import { type Grade, gradeAnswer } from './manifests/grade.ts'
import { gradeRefusal } from './manifests/refusal.ts'
import { type Answer, estimate } from './manifests/run.ts'

/** One input with what is right about it. */
interface Question {
  readonly name: string
  readonly folder: string
  readonly input: CaseInput
  readonly expected: unknown
}

interface Graded {
  readonly name: string
  readonly grade: Grade
  readonly answer: Answer
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    case: { type: 'string', default: '' },
    all: { type: 'boolean' },
  },
})
const [folder] = positionals
if (folder === undefined) {
  console.error('which folder of cases? npm run bench:manifests -- FOLDER')
  process.exit(2)
}
const { gpus } = readTables(fileURLToPath(new URL('../../pricing-data', import.meta.url)))
const parallel = 3
const questions = findQuestions(resolve(folder)).filter(({ name }) => name.includes(values.case))
const graded: Graded[] = []
const notBuilt: string[] = []
const start = performance.now()
let next = 0
await Promise.all(Array.from({ length: parallel }, work))
graded.sort((a, b) => a.name.localeCompare(b.name))
for (const each of graded) show(each)
summarize()

function findQuestions(root: string): readonly Question[] {
  return readdirSync(root).flatMap(name => {
    const home = join(root, name)
    if (!existsSync(join(home, 'expected.yaml'))) return []
    const whole: unknown = parse(readFileSync(join(home, 'expected.yaml'), 'utf8'))
    const several = CaseInputs.safeParse(whole)
    const shared = CaseInput.loose().parse(whole)
    const parts: readonly unknown[] = several.success
      ? several.data.inputs.map(one => ({ ...shared, ...one }))
      : [whole]
    return parts.map((expected, index) => ({
      name: several.success ? `${name}#${index + 1}` : name,
      folder: home,
      input: CaseInput.parse(expected),
      expected,
    }))
  })
}

async function work(): Promise<void> {
  for (let question = questions[next++]; question !== undefined; question = questions[next++]) {
    const { name, folder: home, input, expected } = question
    const made = input.generate === undefined ? undefined : generate(home, input.generator ?? '', input.generate)
    const file = made?.file ?? input.input?.[0] ?? ''
    const answer = await estimate(home, file, input.invocation)
    made?.remove()
    if (input.later === true && answer.report === undefined) {
      notBuilt.push(name)
      continue
    }
    const refusal = ExpectedRefusal.safeParse(expected)
    const grade = refusal.success
      ? gradeRefusal(refusal.data, answer, gpus)
      : gradeAnswer(ExpectedAnswer.parse(expected), answer.report, gpus, answer.faultCodes)
    graded.push({ name, grade, answer })
  }
}

/** Input that is too large to keep, made by the program that lies beside expected.yaml. */
function generate(home: string, generator: string, words: readonly string[]) {
  const place = mkdtempSync(join(tmpdir(), 'gpufare-bench-'))
  const file = join(place, words.includes('yaml') ? 'job.yaml' : 'job.sbatch')
  writeFileSync(file, execFileSync('python3', [join(home, generator), ...words], { maxBuffer: 2 ** 30 }))
  return { file, remove: () => rmSync(place, { recursive: true }) }
}

function isWhole({ facts, warnings }: Grade): boolean {
  return facts.every(({ verdict }) => verdict === 'right') && warnings.missing.length === 0
}

function show({ name, grade, answer }: Graded): void {
  const wrong = grade.facts.filter(({ verdict }) => verdict !== 'right')
  const { missing, spurious } = grade.warnings
  console.log(`${isWhole(grade) ? 'right' : 'WRONG'} ${name} (${answer.seconds.toFixed(1)} s)`)
  for (const { key, expected, got, verdict } of wrong)
    console.log(`  ${verdict}: ${key}: expected ${expected}, got ${got}`)
  if (missing.length > 0) console.log(`  not warned of: ${missing.join(', ')}`)
  for (const { code, text } of spurious) console.log(`  also warned of: ${code}: ${text}`)
  const isRefusal = grade.facts.some(({ key }) => key === 'outcome')
  if (values.all === true && isRefusal) {
    for (const fact of grade.facts) if (fact.key === 'message') console.log(`  must say: ${fact.expected}`)
    console.log(
      answer.report === undefined ? answer.text.replace(/^/gm, '    ') : textsOf(answer).replace(/^/gm, '    '),
    )
  } else if (answer.report === undefined && !isRefusal) console.log(answer.text.slice(0, 600).replace(/^/gm, '    '))
}

function textsOf({ report }: Answer): string {
  return report?.jobs.flatMap(job => job.warnings.map(({ code, text }) => `${code}: ${text}`)).join('\n') ?? ''
}

function summarize(): void {
  const facts = graded.flatMap(({ grade }) => grade.facts)
  const count = (wanted: string): number => facts.filter(({ verdict }) => verdict === wanted).length
  const warnings = graded.map(({ grade }) => grade.warnings)
  const sum = (figure: (one: Grade['warnings']) => number): number =>
    warnings.reduce((total, one) => total + figure(one), 0)
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
cases wholly right     ${cases.whole} of ${cases.total}${notBuilt.length > 0 ? `, not built: ${notBuilt.join(', ')}` : ''}
facts right            ${f.right} of ${f.total}
  unknown, though known ${f.unknown}
  guessed               ${f.guessed}
warnings reported      ${w.reported} of ${w.total}
  others                ${w.spurious}
seconds                ${((performance.now() - start) / 1_000).toFixed()}`)
  if (values.json) console.log(JSON.stringify(totals))
}
