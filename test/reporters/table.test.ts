import { describe, expect, test } from 'vitest'
import type { Fare } from '../../src/fare.ts'
import { quoteCandidate } from '../../src/quote.ts'
import { json } from '../../src/reporters/json.ts'
import type { RenderOptions } from '../../src/reporters/reporter.ts'
import { ReportDocument } from '../../src/reporters/schema.ts'
import { table } from '../../src/reporters/table.ts'
import type { Runtime } from '../../src/runtimes/runtime-model.ts'
import { sourced } from '../../src/sourced.ts'
import { plainPaint } from '../../src/terminal.ts'
import { usDollars } from '../../src/units.ts'
import type { Workload } from '../../src/workload.ts'
import {
  candidateOf,
  fareWith,
  gpuOf,
  hours,
  jobOf,
  limitOf,
  machineOf,
  placementOf,
  pricesOf,
  roleOf,
} from '../builders.ts'

const line = (number: number) => ({ kind: 'manifest', place: { file: 'job.sbatch', line: number } }) as const
const prices = pricesOf({ '8xa100-80gb': 27.44705, '8xl40s': 30.13118, '8xt4': 7.824, '8xh100-80gb': 55.04 })

function quoteOn(name: string, runtime: Runtime | undefined, more = {}) {
  const candidate = candidateOf(placementOf(machineOf(gpuOf(name), 8, { provider: 'aws' }), 8), more)
  return quoteCandidate(job, candidate, runtime, 'on-demand', prices)
}

const job = jobOf({
  destination: { account: 'nlp' },
  roles: [
    roleOf({
      timeLimitSeconds: sourced(172_800, line(5)),
      gpuType: { names: [sourced('a100', line(4))], basis: 'directive' },
    }),
  ],
})
const workload: Workload = {
  purpose: 'train',
  place: { file: 'job.sbatch', line: 14 },
  role: 'job',
  modelName: sourced('meta-llama/Llama-2-7b-hf', line(15)),
  epochs: sourced(3, line(16)),
  samples: sourced(52_002, line(17)),
  sequenceLength: sourced(2_048, line(18)),
  globalBatch: sourced(128, { kind: 'computed', formula: '8 processes x 2 x 8' }),
  precision: sourced('bf16', line(19)),
  repetitions: 1,
  conditional: false,
}
const fits = {
  verdict: 'fits',
  needBytes: 61 * 2 ** 30,
  haveBytes: 79 * 2 ** 30,
  items: [{ what: 'weights', bytes: 2 ** 30 }],
} as const
const training: Fare = {
  job,
  gpuNames: new Map(),
  workloads: [workload],
  quotes: [
    quoteOn('a100-80gb', hours(1.8, 2.2, 2.7), { asRequested: true, fit: fits }),
    quoteOn('h100-80gb', hours(0.9, 1.1, 1.4)),
    quoteOn('l40s', hours(3.3, 4.1, 5)),
    quoteOn('t4', hours(20, 25, 31), { obstacles: ['needs 31 GiB per GPU, has 15 GiB'] }),
    quoteOn('mystery', hours(1, 1, 1), { remarks: ['sold in eights'] }),
  ],
  warnings: [
    {
      code: 'idle-gpus',
      text: '8 GPUs are requested, torchrun starts 4 processes: half of them stand idle',
      place: { file: 'job.sbatch', line: 14 },
    },
  ],
}
const unknown = fareWith([quoteOn('a100-80gb', limitOf(48), { asRequested: true }), quoteOn('t4', limitOf(48))], {
  job,
})

function render(fares: readonly Fare[], more: Partial<RenderOptions> = {}): string {
  const report = { fares, currency: usDollars, remarks: [] }
  return table.render(report, { width: 80, paint: plainPaint, all: false, explain: false, ...more })
}

describe('the table', () => {
  test.each([60, 80, 120])('stays within %i columns', width => {
    const lines = render([training, unknown], { width, explain: true }).split('\n')
    expect(lines.filter(text => text.length > width)).toEqual([])
  })

  test.each([60, 80, 120])('of %i columns reads as before', async width => {
    await expect(render([training, unknown], { width })).toMatchFileSnapshot(`snapshots/table-${width}.txt`)
  })

  test('puts figures below the GPUs where a terminal is too narrow for them', () => {
    const lines = render([training], { width: 40 }).split('\n')
    expect(lines.filter(text => text.length > 40)).toEqual([])
    expect(lines.join(' ').replace(/ +/g, ' ')).toContain('as written 8x A100-80GB 2h12m (1h48m-2h42m), $49-$74')
  })

  test('says what several tasks take together', () => {
    const array = jobOf({ roles: [roleOf({ tasks: 20, concurrentTasks: 4 })] })
    const candidate = candidateOf(placementOf(machineOf(gpuOf('t4'), 8), 8), { asRequested: true })
    const text = render([
      fareWith([quoteCandidate(array, candidate, hours(1, 1, 1), 'on-demand', prices)], { job: array }),
    ])
    expect(text).toContain('1h00m each')
    expect(text).toContain('20 tasks, 4 at a time: about 5h00m in all')
    expect(text).toContain('$31.30/h for 4 tasks')
    expect(text).toContain('$156') // 20 x $7.824
  })

  test('explained reads as before', async () => {
    await expect(render([training], { explain: true })).toMatchFileSnapshot('snapshots/explained.txt')
  })

  test('writes what is not known as ?, never as nothing', () => {
    const row = render([training])
      .split('\n')
      .find(text => text.includes('MYSTERY'))
    expect(row).toContain('?')
    expect(row).not.toContain('$')
  })

  test('says what the prices are not, and whose rate the currency has', () => {
    const place = { file: 'gpufare.yaml', line: 7, column: 11 }
    const priceOf: typeof prices = (machine, tier) => {
      const price = prices(machine, 'on-demand')
      const discount = { share: 0.1, listUsdPerMachineHour: 10, place }
      if (price === undefined) return undefined
      if (tier === 'spot') return { ...price, tier, usdPerMachineHour: 4, lowestZone: true }
      return tier === 'own'
        ? { ...price, tier: 'own-spot', asOf: '', source: 'gpufare.yaml:9:5', usdPerMachineHour: 2 }
        : { ...price, discount, usdPerMachineHour: 9 }
    }
    const candidate = candidateOf(placementOf(machineOf(gpuOf('t4'), 8), 8), { asRequested: true })
    const quotes = (['on-demand', 'spot', 'own'] as const).map(tier =>
      quoteCandidate(job, candidate, hours(1, 1, 1), tier, priceOf),
    )
    const currency = { code: 'EUR', perUsd: 0.5, source: 'gpufare.yaml:3:33' }
    const options = { width: 200, paint: plainPaint, all: true, explain: false }
    const text = table.render({ fares: [fareWith(quotes, { job })], currency, remarks: [] }, options)
    expect(text).toContain('€4.50/h on-demand less 10 %')
    expect(text).toContain('€2.00/h spot, lowest zone')
    expect(text).toContain('€1.00/h own spot rate')
    expect(text).toContain('on-demand less 10 % (gpufare.yaml:7:11) 2026')
    expect(text).toContain('own spot rate gpufare.yaml:9:5')
    expect(text).toContain('amounts in EUR: 0.5 for 1 USD (gpufare.yaml:3:33)')
    expect(text).toContain('spot: its machines can be taken away at any time')
  })

  test('adds up several jobs', () => {
    // P90: 2.7 h x $27.44705 = $74.11; 48 h x $27.44705 = $1317.46
    expect(render([training, unknown])).toContain('2 jobs as written, together: at most $1,390')
  })
})

test('the JSON report is as its schema says, with what the table shows', () => {
  const text = json.render(
    { fares: [training, unknown], currency: usDollars, remarks: [] },
    { width: 80, paint: plainPaint, all: true, explain: true },
  )
  const report = ReportDocument.parse(JSON.parse(text))
  expect(report.jobs[0]?.quotes[0]).toMatchObject({
    asRequested: true,
    basis: 'model',
    runtimeSeconds: { p50: expect.closeTo(7_920) },
    usdPerHour: 27.44705,
    placements: [{ gpu: 'a100-80gb', gpuCount: 8, provider: 'aws', price: { tier: 'on-demand', asOf: '2026-11-01' } }],
  })
  expect(report.jobs[0]?.quotes[4]).toMatchObject({ costMissing: ['price'] })
  expect(report.jobs[1]?.quotes[0]?.costUpperBoundUsd).toBeCloseTo(1_317.46, 1)
  expect(report.jobs[1]?.totals).toEqual({ gpus: 8, gpuHoursAtLimit: 384 })
})
