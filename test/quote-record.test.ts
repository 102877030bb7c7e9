import { describe, expect, test } from 'vitest'
import { emptyConfig } from '../src/config.ts'
import { type Fare, fareOf, requestedQuotes } from '../src/fare.ts'
import { manifestOf } from '../src/manifest.ts'
import { readJobs } from '../src/manifests/index.ts'
import { readTables } from '../src/pricing-data.ts'
import { type QuoteRecord, quoteRecordOf } from '../src/quote-record.ts'
import { tablesFolder } from '../src/quoted-manifests.ts'
import { correctionsOf } from '../src/runtimes/corrections.ts'
import type { Past } from '../src/runtimes/runtime-model.ts'

const tables = readTables(tablesFolder)
const training =
  'torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2 --max_steps 100000 --per_device_train_batch_size 8 --block_size 1024 --bf16 True'

function scriptOf(body: string, gpus = 'gpu:a100_80gb:8'): string {
  return `#!/bin/bash\n#SBATCH -J train --gres=${gpus} -t 100:00:00\n${body}\n`
}

function fareIn(text: string, past: Past = {}): Fare {
  const [job] = readJobs(manifestOf('train.sbatch', new TextEncoder().encode(text)))
  if (job === undefined) throw new Error('no job')
  return fareOf(job, new Map(), tables, emptyConfig, undefined, past)
}

function recordOf(fare: Fare): QuoteRecord {
  const at = '2026-11-30T12:00:00.000Z'
  return quoteRecordOf(fare, { key: 'ab', at, digest: '', gpufareVersion: '0.1.0', config: emptyConfig })
}

/** What a quote of this record teaches when each of three runs took so many times the estimate. */
function taughtBy(record: QuoteRecord, times: number): Past {
  const { fingerprint = '', gpuModel: gpus, runtimeSeconds } = record
  const estimatedSeconds = record.estimatedSeconds ?? runtimeSeconds?.p50 ?? Number.NaN
  const run = { ...record, id: '7', fingerprint, gpus, estimatedSeconds, seconds: estimatedSeconds * times }
  const runs = [1, 2, 3].map(index => ({ ...run, key: String(index) }))
  return { corrections: correctionsOf(wanted => runs.filter(each => each.fingerprint === wanted)) }
}

describe.each([
  ['declared', scriptOf('#GPUFARE runtime=4h\npython train.py')],
  ['model', scriptOf(training)],
] as const)('a quote by %s', (basis, text) => {
  const before = fareIn(text)
  const record = recordOf(before)

  test('is recorded with the fingerprint that its next quotes are corrected by, on every candidate', () => {
    expect(record).toMatchObject({ basis, fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(record.estimatedSeconds).toBeUndefined()
    const after = fareIn(text, taughtBy(record, 3))
    const ratios = after.quotes.map(({ runtime }, index) => {
      const earlier = before.quotes[index]?.runtime
      if (runtime === undefined || runtime.basis === 'limit' || earlier === undefined || earlier.basis === 'limit')
        return 0
      return runtime.seconds.p50 / earlier.seconds.p50
    })
    expect(ratios.length).toBeGreaterThan(2)
    // Where an estimate says that it is less sure, a little less is taken for lasting.
    for (const ratio of ratios.filter(each => each > 0)) expect(Math.abs(ratio - 2.9)).toBeLessThan(0.15)
    expect(after.warnings.map(({ code }) => code)).toContain('corrected')
  })

  test('once corrected teaches by what was estimated before, so that a correction stays', () => {
    const again = recordOf(fareIn(text, taughtBy(record, 3)))
    expect(again.fingerprint).toBe(record.fingerprint)
    expect(again.estimatedSeconds).toBeCloseTo(record.runtimeSeconds?.p50 ?? 0, 6)
    expect(recordOf(fareIn(text, taughtBy(again, 3))).runtimeSeconds?.p50).toBeCloseTo(
      again.runtimeSeconds?.p50 ?? 0,
      6,
    )
  })

  test('that was right to a tenth is corrected in silence', () => {
    const after = fareIn(text, taughtBy(record, 1.02))
    expect(requestedQuotes(after)[0]?.runtime).toHaveProperty('correction')
    expect(after.warnings.map(({ code }) => code)).not.toContain('corrected')
  })
})

describe('no fingerprint', () => {
  test.each([
    ['where only the limit is known', scriptOf('python train.py')],
    ['where the name says nothing', scriptOf('#GPUFARE runtime=4h\npython train.py').replace('train', 'bash')],
  ])('%s', (_, text) => {
    expect(recordOf(fareIn(text)).fingerprint).toBeUndefined()
  })

  test('where it may get GPUs of different speed', () => {
    const fare = fareIn(scriptOf(training, 'gpu:8 -C a100|h100'))
    expect(new Set(requestedQuotes(fare).map(({ runtime }) => runtime?.basis))).toEqual(new Set(['model']))
    expect(recordOf(fare).fingerprint).toBeUndefined()
  })
})

test('a job that may get either of two GPUs alike is learnt from, corrected or not', () => {
  const text = scriptOf(training, 'gpu:a100:8')
  const record = recordOf(fareIn(text))
  expect(record).toMatchObject({ basis: 'model', fingerprint: expect.any(String) })
  const after = fareIn(text, taughtBy(record, 1.5))
  expect(new Set(requestedQuotes(after).map(({ candidate }) => candidate.placements[0]?.gpu.name)).size).toBe(2)
  expect(recordOf(after).fingerprint).toBe(record.fingerprint)
})

test('a declared time is the same whichever GPU of one name it gets', () => {
  const text = scriptOf('#GPUFARE runtime=4h\npython train.py', 'gpu:a100:8')
  expect(requestedQuotes(fareIn(text)).length).toBeGreaterThan(1)
  expect(recordOf(fareIn(text)).fingerprint).toBeDefined()
})

test('what goes by earlier runs already is not corrected by them once more', () => {
  const text = scriptOf(training)
  const record = recordOf(fareIn(text))
  const seconds = { p10: 7_000, p50: 8_000, p90: 9_000 }
  const runs: Past['runs'] = {
    knows: () => true,
    isNumbered: () => false,
    gpusOf: () => [],
    uncounted: () => ({ short: 0, interrupted: 0 }),
    forecast: () => ({
      seconds,
      unlimitedSeconds: seconds,
      narrow: true,
      endings: { runs: 3, failed: 0, cancelled: 0, timedOut: 0 },
      seen: [],
      completed: { count: 3, lastEndSeconds: 1_700_000_000, source: 'sacct' },
    }),
  }
  const alone = fareIn(text, { runs })
  const both = fareIn(text, { ...taughtBy(record, 3), runs })
  expect(both.quotes.map(({ runtime }) => runtime)).toEqual(alone.quotes.map(({ runtime }) => runtime))
  expect(recordOf(both).fingerprint).toBeUndefined()
})
