import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfigs } from '../src/config.ts'
import { warnOfConfig } from '../src/config-warnings.ts'
import { openTable } from '../src/csv.ts'
import { readTables } from '../src/pricing-data.ts'
import { sourced } from '../src/sourced.ts'
import { jobOf } from './builders.ts'
import { makeFolder } from './folders.ts'

const { gpus } = readTables('pricing-data')
const prices =
  openTable(`provider,machine,region,gpu,gpu_count,cpu_count,memory_gib,on_demand_usd_h,spot_usd_h,reserved_1y_usd_h,reserved_3y_usd_h,as_of,source
aws,p4d.24xlarge,us-east-1,a100-40gb,8,96,1152,20,,,,2026-07-20,list
aws,g4dn.metal,us-east-1,t4,8,96,384,8,,,,2026-07-20,list
gcp,a2-highgpu-8g,us-central1,a100-40gb,8,96,680,29,,,,2026-08-03,list
`)
const networks = openTable('provider,machine,gpu\n')

/** Line and text of each warning about these lines of a partition, which begin in line 5. */
async function warningsOf(partition: string, more = '', declared?: string) {
  const path = join(makeFolder(), 'gpufare.yaml')
  const head = 'clusters:\n  - name: lab\n    scheduler: slurm\n    partitions:\n'
  writeFileSync(path, `${head}      - {name: gpu, gpus-per-node: 8, ${partition}}\n${more}`)
  const config = await readConfigs([{ path, trusted: true }])
  const origin = { kind: 'manifest', place: { file: 'job.sbatch', line: 2 } } as const
  const job = jobOf(declared === undefined ? {} : { declarations: { gpus: sourced([declared], origin) } })
  return warnOfConfig(job, config, { gpus, prices, networks }).map(({ text, place }) => [place?.line, text])
}

describe('names in the configuration', () => {
  test('that tables know need no warning', async () => {
    const machine = 'machine: {provider: aws, instance-type: p4d.24xlarge, region: us-east-1}'
    expect(await warningsOf(`gpu: A100-SXM4-40GB, ${machine}`, 'candidates: [8xl40s, h100]\n')).toEqual([])
  })

  test('of GPUs that nobody knows have their line, the nearest names and what cannot be known', async () => {
    const [[line, text] = []] = await warningsOf('gpu: a100-80bg')
    expect(line).toBe(5)
    expect(text).toMatch(
      /^gpu: a100-80bg is no GPU type gpufare knows \(most alike: a100-80gb, .*\): price and runtime are not/,
    )
    const [[, priced] = []] = await warningsOf('gpu: zx9000, rate: 2')
    expect(priced).toMatch(/its runtime is not known$/)
  })

  test('of candidates that nobody knows have their line, in the manifest too', async () => {
    const [[line, text] = []] = await warningsOf('gpu: t4', 'candidates:\n  - t4\n  - 8xl40ss\n')
    expect(line).toBe(8)
    expect(text).toMatch(/^the candidate 8xl40ss is no GPU type gpufare knows \(most alike: l40s, /)
    expect(await warningsOf('gpu: t4', 'candidates: [l40ss]\n', 'h1000')).toEqual([[2, expect.stringMatching('h1000')]])
  })

  test('of candidates may be those of a pool', async () => {
    expect(await warningsOf('gpu: t4, gres: small', 'candidates: [small]\n')).toEqual([])
  })

  test('of instance types that nobody lists name the nearest', async () => {
    const machine = 'machine: {provider: aws, instance-type: p4d.24xlage, region: us-east-1}'
    expect(await warningsOf(`gpu: a100, ${machine}`)).toEqual([
      [
        5,
        'gpu: aws p4d.24xlage is not in the table of prices (most alike: p4d.24xlarge, g4dn.metal): its price is not known',
      ],
    ])
    expect(await warningsOf(`gpu: a100, rate: 2, ${machine}`)).toEqual([])
  })

  test('of regions without a price name those with one', async () => {
    const machine = 'machine: {provider: aws, instance-type: p4d.24xlarge, region: eu-north-1}'
    expect(await warningsOf(`gpu: a100, ${machine}`)).toEqual([
      [5, 'gpu: no price of aws p4d.24xlarge in eu-north-1 is known, but in us-east-1'],
    ])
  })
})
