import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { readSbatch } from '../../src/manifests/slurm/read-sbatch.ts'
import { sbatchCases } from './sbatch-grammar.ts'
import { answerOf, difference, openSbatchOracle, type SbatchOracle, whyNoSbatch } from './sbatch-oracle.ts'

const missing = whyNoSbatch()

describe.skipIf(missing !== undefined)(
  `our reading against sbatch itself${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let oracle: SbatchOracle
    beforeAll(() => {
      oracle = openSbatchOracle()
    })
    afterAll(() => oracle.close())

    test('merged options and refusals are those of sbatch', { timeout: 60_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(sbatchCases(), async question => {
          const words = difference(await oracle.ask(question), answerOf(readSbatch({ file: 'script', ...question })))
          if (words !== undefined) throw new Error(words)
        }),
        // Always the same scripts: a test must not fail by chance. `npm run bench:sbatch-parity` tries others.
        { numRuns: 500, seed: 2205 },
      )
    })
  },
)
