import { parseArgs } from 'node:util'
import * as fc from 'fast-check'
import { readSbatch } from '../../src/manifests/slurm/read-sbatch.ts'
import { sbatchCases } from '../manifests/sbatch-grammar.ts'
import { answerOf, difference, openSbatchOracle, type SbatchCase, whyNoSbatch } from '../manifests/sbatch-oracle.ts'

/** Processes of sbatch at one time. */
const parallel = 4
const shownDifferences = 12

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, seed: { type: 'string' } },
})
const missing = whyNoSbatch()
if (missing !== undefined) {
  console.error(missing)
  process.exit(1)
}
const total = Number(positionals[0] ?? 10_000)
const seed = Number(values.seed ?? Date.now() % 2 ** 31)
const oracle = openSbatchOracle()
const differences: { readonly question: SbatchCase; readonly words: string }[] = []
let refused = 0
let heterogeneous = 0
const cases = fc.sample(sbatchCases(), { seed, numRuns: total })
let next = 0
await Promise.all(Array.from({ length: parallel }, work))
oracle.close()

async function work(): Promise<void> {
  for (let question = cases[next++]; question !== undefined; question = cases[next++]) {
    const theirs = await oracle.ask(question)
    if (theirs.refused) refused += 1
    else if (theirs.components.length > 1) heterogeneous += 1
    const words = difference(theirs, answerOf(readSbatch({ file: 'script', ...question })))
    if (words !== undefined) differences.push({ question, words })
  }
}

console.log(`${total} scripts, seed ${seed}: sbatch refused ${refused}, ${heterogeneous} had several components`)
for (const { question, words } of differences.slice(0, shownDifferences)) {
  console.log(
    `\n${words}\n${JSON.stringify(question.schedulerArguments)} ${JSON.stringify(question.environment)}\n${question.script}`,
  )
}
console.log(`\nequal ${total - differences.length}, different ${differences.length}`)
if (values.json) console.log(JSON.stringify({ equal: total - differences.length, total }))
process.exitCode = differences.length === 0 ? 0 : 1
