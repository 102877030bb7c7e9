import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { mutate, outsidePaths } from './mutations.ts'
import { Random } from './random.ts'

/** What gpufare is confronted with: files of its current folder, and what is typed. */
export interface FuzzCase {
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly words: readonly string[]
}

/** A manifest with the files beside it. */
interface Seed {
  readonly manifest: string
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** The folders of test/cases that are read without a fault, and a configuration with everything in it. */
export function readSeeds(folder: string): { readonly seeds: readonly Seed[]; readonly config: Uint8Array } {
  const seeds = readdirSync(folder).flatMap(name => {
    const below = join(folder, name)
    const expected: unknown = name.startsWith('bad-')
      ? undefined
      : parse(readFileSync(join(below, 'expected.yaml'), 'utf8'))
    const input = typeof expected === 'object' && expected !== null && 'input' in expected ? expected.input : undefined
    const paths = Array.isArray(input) ? input.filter(path => typeof path === 'string') : []
    const files = new Map(paths.map(path => [path, readFileSync(join(below, path))]))
    const [manifest] = paths
    return manifest === undefined || !statSync(join(below, manifest)).isFile() ? [] : [{ manifest, files }]
  })
  return { seeds, config: Buffer.from(fullConfig) }
}

const fullConfig = `team: research
currency: { code: EUR, per-usd: 0.9 }
discount: 10 %
ask-above: 20
regions: [us-east-1]
clusters:
  - name: ours
    scheduler: slurm
    partitions: [{ name: a100, gpu: a100-80gb, gpus-per-node: 8, rate: 1.5 }, { name: t4, gpu: t4, rate: 0.2 }]
  - name: theirs
    scheduler: kubernetes
    contexts: [prod]
    node-pools: [{ name: h100, gpu: h100, gpus-per-node: 8, rate: 2 }]
policies:
  - { rule: job-cost, level: deny, limit: 100 }
  - { rule: gpu-count, limit: 8, where: { path: 'jobs/**', team: research } }
  - { rule: required-tags, tags: [team, cost-center] }
budgets: [{ name: all, amount: 1000, period: month }]
exemptions: [{ rule: job-cost, reason: paper, until: 2030-01-01 }]
`

const slurmWords = [
  '--partition=a100',
  '-N2',
  '--gres=gpu:a100:8',
  '--time=1-0',
  '-t',
  '--gpus',
  '--wrap=python x.py',
  '--array=0-9%2',
  '--',
  '--epochs',
  '3',
  '-c',
  '4',
  '--mem=0',
  '--constraint=a&b',
  ':',
] as const
const formats = ['table', 'json', 'markdown', 'csv', 'html'] as const

/** The case of this number: always the same for the same seed. */
export function fuzzCase(seed: number, index: number, { seeds, config }: ReturnType<typeof readSeeds>): FuzzCase {
  const random = new Random(Math.imul(seed + 1, 0x9e3779b1) ^ index)
  const chosen = random.pick(seeds)
  if (chosen === undefined) throw new Error('there are no seeds')
  const others = [random.pick(seeds), random.pick(seeds)].flatMap(each => [...(each?.files.values() ?? [])])
  const spoiled = random.pick([...chosen.files.keys()])
  const files = new Map(
    [...chosen.files].map(([path, bytes]) => [
      path,
      path === chosen.manifest || path === spoiled || random.chance(0.1) ? mutate(bytes, random, others) : bytes,
    ]),
  )
  const configIsSpoiled = random.chance(0.1)
  if (configIsSpoiled || random.chance(0.2))
    files.set('gpufare.yaml', configIsSpoiled ? mutate(config, random, []) : config)
  const format = random.pick(formats)
  const words = ['--format', format, ...(format === 'table' && random.chance(0.3) ? ['--explain'] : [])]
  if (random.chance(0.2)) return { files, words: ['check', ...words.filter(word => word !== '--explain'), '.'] }
  const isSlurm = /\.(?:sbatch|sh|slurm)$/.test(basename(chosen.manifest))
  const passedOn = isSlurm && random.chance(0.3) ? ['--', ...argumentsOf(random)] : []
  return { files, words: ['estimate', ...words, chosen.manifest, ...passedOn] }
}

function argumentsOf(random: Random): readonly string[] {
  const words = Array.from({ length: 1 + random.below(4) }, () => random.pick([...slurmWords, ...outsidePaths]))
  const bytes = mutate(Buffer.from(random.pick(words) ?? '', 'latin1'), random, [])
  // An argument of a program holds no NUL.
  return random.chance(0.5)
    ? words
    : [...words, Buffer.from(bytes).toString('utf8').slice(0, 5_000).replaceAll('\0', '')]
}
