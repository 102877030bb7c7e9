import { expect, test } from 'vitest'
import { withCpuMachine } from '../src/cpu-machines.ts'
import { openTable } from '../src/csv.ts'
import { quoteCandidate } from '../src/quote.ts'
import { sourced } from '../src/sourced.ts'
import { usDollars } from '../src/units.ts'
import type { Warning } from '../src/warning.ts'
import { candidateOf, gpuOf, jobOf, machineOf, placementOf, roleOf } from './builders.ts'

const prices = openTable(
  [
    'gpu,provider,machine,region,gpu_count,cpu_count,memory_gib,on_demand_usd_h,as_of,source',
    ',cloud,small,here,0,8,32,0.4,2026-07-01,list',
    ',cloud,medium,here,0,32,128,1.5,2026-07-01,list',
    ',cloud,medium,there,0,32,128,1.2,2026-07-01,list',
    ',cloud,lean,here,0,32,64,1.3,2026-07-01,list',
    ',other,cheap,here,0,96,512,0.1,2026-07-01,list',
  ].join('\n'),
)
const said = { kind: 'manifest', place: { file: 'job.sbatch', line: 1 } } as const
const warning: Warning = { code: 'cpu-work', text: 'nothing needs a GPU', idleGpus: 8 }

/** The text for a job on 8 GPUs for at most 4 hours, at so many dollars an hour. */
function textFor(
  usdPerHour: number | undefined,
  role: Parameters<typeof roleOf>[0],
  currency = usDollars,
): string | undefined {
  const machine = machineOf(gpuOf('a100'), 8, { cpuCount: 96 })
  const job = jobOf({ roles: [roleOf({ timeLimitSeconds: sourced(4 * 3600, said), ...role })] })
  const quote = quoteCandidate(
    job,
    candidateOf(placementOf(machine, 8), { asRequested: true }),
    { basis: 'limit', upperBoundSeconds: 4 * 3600, working: [] },
    'on-demand',
    () =>
      usdPerHour === undefined
        ? undefined
        : { machine, region: 'here', tier: 'on-demand', usdPerMachineHour: usdPerHour, asOf: '', source: '' },
  )
  return withCpuMachine([warning], job, quote, prices, currency)[0]?.text
}

test('the cheapest machine of the same provider and region with the CPUs and the memory that are asked for', () => {
  const asked = { cpusPerReplica: sourced(32, said), memoryBytesPerReplica: sourced(100 * 2 ** 30, said) }
  expect(textFor(20, asked)).toBe(
    'nothing needs a GPU; a machine without GPUs, cloud medium in here (32 CPUs, 128 GiB, list price of 2026-07-01), costs $1.50 an hour instead of $20, at most $6.00 instead of $80 within the time limit',
  )
  expect(textFor(20, { cpusPerReplica: sourced(32, said) })).toContain('cloud lean in here')
})

test('the price of a machine alone where that of the GPUs is not known', () => {
  const text = textFor(undefined, { cpusPerReplica: sourced(8, said) })
  expect(text).toMatch(/cloud small in here .*, costs \$0\.40 an hour$/)
})

test('nothing where no machine is large enough, or GPUs of an own cluster cost less', () => {
  expect(textFor(20, { cpusPerReplica: sourced(128, said) })).toBe(warning.text)
  expect(textFor(0.3, { cpusPerReplica: sourced(8, said) })).toBe(warning.text)
})

test('what it costs is told in the currency of the configuration', () => {
  const euros = { ...usDollars, code: 'EUR', perUsd: 0.5 }
  const text = textFor(20, { cpusPerReplica: sourced(32, said) }, euros)
  expect(text).not.toContain('$')
  expect(text).toContain('instead of €10')
})
