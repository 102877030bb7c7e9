import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { readYaml } from '../../src/document.ts'
import { readManifest } from '../../src/manifest.ts'
import { readJobs } from '../../src/manifests/index.ts'
import { readTables } from '../../src/pricing-data.ts'
import { readReferredFiles } from '../../src/referred-files.ts'
import type { Workload } from '../../src/workload.ts'
import { readWorkloads } from '../../src/workloads/index.ts'

/** What expected.yaml says of a workload; null = cannot be known, a key left out is not compared. */
const Expected = z.object({
  input: z.array(z.string()).optional(),
  scheduler: z.string().optional(),
  uncertain: z.boolean().optional(),
  /** Variables of a template, which gives no figures before it is filled in. */
  unresolved: z.array(z.string()).optional(),
  workload: z
    .object({
      purpose: z.string().nullish(),
      framework: z.string().nullish(),
      model: z.union([z.string(), z.array(z.string())]).nullish(),
      params_b: z.number().nullish(),
      dataset: z.union([z.string(), z.array(z.string())]).nullish(),
      steps: z.number().nullish(),
      epochs: z.number().nullish(),
      samples: z.number().nullish(),
      tokens: z.number().nullish(),
      global_batch: z.number().nullish(),
      micro_batch: z.number().nullish(),
      grad_accum: z.number().nullish(),
      seq_len: z.number().nullish(),
      precision: z.string().nullish(),
      method: z.string().nullish(),
      runs: z.number().nullish(),
      parallel: z.object({ tp: z.number().optional(), pp: z.number().optional(), dp: z.number().optional() }).nullish(),
    })
    .nullish(),
})
type Expected = z.infer<typeof Expected>
type Facts = NonNullable<Expected['workload']>

/** Frameworks that have a reader of their own, as expected.yaml calls them. */
const OWN_FRAMEWORKS = ['hf-trainer', 'trl', 'megatron-lm', 'megatron-deepspeed', 'nanogpt']
/** Words of expected.yaml for ours. */
const WORDS: Readonly<Record<string, string>> = { eval: 'evaluate', 'custom-pytorch': 'pytorch' }

const folder = fileURLToPath(new URL('../cases', import.meta.url))
const tables = readTables(fileURLToPath(new URL('../../pricing-data', import.meta.url)))
const cases = readdirSync(folder)
  .filter(name => /^\d\d-/.test(name) && existsSync(join(folder, name, 'expected.yaml')))
  .map(name => ({ name, expected: readExpected(name) }))
  .filter(({ expected }) => expected.workload && expected.unresolved === undefined)

function readExpected(name: string): Expected {
  const file = join(folder, name, 'expected.yaml')
  return Expected.parse(readYaml(readFileSync(file, 'utf8'), file, 'yaml-1.2')[0]?.value)
}

/** What was read, in the words of expected.yaml. */
function factsOf(workload: Workload, tasks: number): Facts {
  const split = workload.parallelism?.value
  const ranks = workload.processes?.value
  return {
    purpose: workload.purpose,
    framework: workload.framework?.value,
    model: workload.modelName?.value,
    params_b: workload.model && workload.model.value.parameterCount / 1e9,
    dataset: workload.dataset?.value,
    steps: workload.steps?.value,
    epochs: workload.epochs?.value,
    samples: workload.samples?.value,
    tokens: workload.tokens?.value,
    global_batch: workload.globalBatch?.value,
    micro_batch: workload.microBatch?.value,
    grad_accum: workload.gradientAccumulation?.value,
    seq_len: workload.sequenceLength?.value,
    precision: workload.precision?.value,
    method: workload.method?.value,
    runs: workload.repetitions * tasks,
    parallel: split && {
      tp: split.tensor,
      pp: split.pipeline,
      ...(ranks === undefined ? {} : { dp: ranks / (split.tensor * split.pipeline * split.context) }),
    },
  }
}

/** Keys on which the two disagree, as `key: expected …, read …`. */
function differences(expected: Expected, read: Facts): string[] {
  const wanted: Facts = expected.workload ?? {}
  const isOwn = OWN_FRAMEWORKS.includes(wanted.framework ?? '')
  return Object.entries(wanted).flatMap(([key, want]) => {
    const got = Object.entries(read).find(([name]) => name === key)?.[1]
    const isMissing = got === undefined && want !== null
    const isGuess = got !== undefined && want === null
    const isRight = isMissing
      ? !isOwn || expected.uncertain === true
      : isGuess
        ? expected.uncertain === true
        : agree(key, want, got)
    return isRight ? [] : [`${key}: expected ${JSON.stringify(want)}, read ${JSON.stringify(got)}`]
  })
}

function agree(key: string, want: unknown, got: unknown): boolean {
  if (want === null) return got === undefined
  if (key === 'parallel') {
    const read = new Map(Object.entries(got ?? {}))
    return Object.entries(want ?? {}).every(([name, value]) => read.get(name) === value)
  }
  if (typeof want === 'number' && typeof got === 'number')
    return Math.abs(got / want - 1) <= (key === 'params_b' ? 0.05 : 1e-9)
  if (key === 'model') return [want].flat().some(name => sameName(String(name), String(got)))
  if (key === 'dataset')
    return String(got)
      .split(/,\s*/)
      .every(name => [want].flat().includes(name))
  return (WORDS[String(want)] ?? want) === got
}

/** `gpt 40x5120 (Megatron arguments)` and `gpt 40x5120`; a model's name with and without its owner, whatever parts its words. */
function sameName(one: string, other: string): boolean {
  const [a, b] = [one, other].map(name =>
    name
      .toLowerCase()
      .replace(/ \(.*\)$/, '')
      .replace(/[-_. ]/g, ''),
  )
  return a === b || a?.split('/').at(-1) === b?.split('/').at(-1)
}

describe('the training runs of test/cases', () => {
  test('there are cases', () => {
    expect(cases.length).toBeGreaterThan(0)
  })

  test.each(cases)('$name', async ({ name, expected }) => {
    const path = join(folder, name, expected.input?.[0] ?? '')
    const manifest = await readManifest(path, { stdin: process.stdin })
    const jobs = readJobs(manifest)
    const workloads = jobs.flatMap(
      job => readWorkloads(job, readReferredFiles(job, join(path, '..')), tables.models, tables.datasets).workloads,
    )
    const purpose = WORDS[expected.workload?.purpose ?? ''] ?? expected.workload?.purpose
    const main = workloads.find(workload => workload.purpose === purpose) ?? workloads[0]
    const tasks = jobs.flatMap(job => job.roles).find(({ name: role }) => role === main?.role)?.tasks ?? 1
    const facts = main === undefined ? {} : factsOf(main, tasks)
    expect(differences(expected, facts)).toEqual([])
  })
})
