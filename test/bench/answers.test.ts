import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { readTables } from '../../src/pricing-data.ts'
import { quoteManifests } from '../../src/quoted-manifests.ts'
import { json } from '../../src/reporters/json.ts'
import { ReportDocument } from '../../src/reporters/schema.ts'
import { describeTerminal, plainPaint } from '../../src/terminal.ts'
import { usDollars } from '../../src/units.ts'
import { findCases, readInvocation } from '../cases.ts'
import { CaseInput, ExpectedAnswer } from './manifests/case-schema.ts'
import { gradeAnswer } from './manifests/grade.ts'

const { gpus } = readTables('pricing-data')

/** The cases that caught a fault once: what was right about them since has to stay so. */
const cases = findCases()
  .filter(({ name }) => /^(slurm|k8s)-/.test(name))
  .map(({ name, folder, expected }) => ({
    name,
    folder,
    input: CaseInput.parse(expected),
    answer: ExpectedAnswer.parse(expected),
  }))

/** The report on a case for programs, with no configuration and nothing of earlier runs. */
async function reportOn(folder: string, { input = [], invocation = '' }: CaseInput): Promise<ReportDocument> {
  const { environment, ...passedOn } = readInvocation(invocation)
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const terminal = describeTerminal(streams, { HOME: '/nowhere', ...environment })
  const path = join(folder, input[0] ?? '')
  const quoted = await quoteManifests([path], { history: false }, passedOn, terminal)
  const report = { fares: quoted.flatMap(each => each.fares), currency: usDollars, remarks: [] }
  return ReportDocument.parse(
    JSON.parse(await json.render(report, { width: 100, paint: plainPaint, all: true, explain: true })),
  )
}

test('there are cases', () => {
  expect(cases.length).toBeGreaterThan(30)
})

test.each(cases)('$name is answered right', async ({ folder, input, answer }) => {
  const { facts, warnings } = gradeAnswer(answer, await reportOn(folder, input), gpus)
  const wrong = facts.filter(({ verdict }) => verdict !== 'right')
  expect(wrong.map(({ key, expected, got }) => `${key}: expected ${expected}, got ${got}`)).toEqual([])
  expect(warnings.missing).toEqual([])
})
