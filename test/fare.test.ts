import { describe, expect, test } from 'vitest'
import { emptyConfig } from '../src/config.ts'
import { fareOf } from '../src/fare.ts'
import { manifestOf } from '../src/manifest.ts'
import { readJobs } from '../src/manifests/index.ts'
import { readTables } from '../src/pricing-data.ts'
import { tablesFolder } from '../src/quoted-manifests.ts'
import { sourced } from '../src/sourced.ts'

/** A cluster whose nodes have eight GPUs at $2 an hour each. */
const config = {
  ...emptyConfig,
  clusters: [
    {
      name: 'lab',
      scheduler: 'slurm' as const,
      pools: [
        {
          name: 'h100',
          gpu: 'h100',
          gpusPerNode: 8,
          spot: false,
          gresType: 'h100',
          resourceName: 'gpu',
          usdPerGpuHour: sourced(2, { kind: 'config', place: { file: 'gpufare.yaml' } }),
        },
      ],
    },
  ],
}

function textsOf(code: string, options: string, body: string): readonly string[] {
  const text = `#!/bin/bash\n#SBATCH -p h100 -t 60 ${options}\n${body}\n`
  const [job] = readJobs(manifestOf('job', new TextEncoder().encode(text)))
  if (job === undefined) throw new Error('no job')
  const { warnings } = fareOf(job, new Map(), readTables(tablesFolder), config)
  return warnings.filter(warning => warning.code === code).map(warning => warning.text)
}

describe('what is paid and not used', () => {
  test('has its price an hour', () => {
    const [text] = textsOf('idle-gpus', '--gres=gpu:h100:4', 'torchrun --nproc_per_node 1 run_clm.py --max_steps 9')
    expect(text).toMatch(/3 GPUs have nothing to do; \$6.00 an hour buy nothing$/)
  })

  test('of an array, for all tasks at one time', () => {
    const body = 'torchrun --nproc_per_node 1 run_clm.py --max_steps 9'
    expect(textsOf('idle-gpus', '--gres=gpu:h100:4 -a 0-9%5', body)[0]).toMatch(/\$30 an hour buy nothing$/)
  })

  test('of whole nodes is what nobody asked for', () => {
    const [, stranded] = textsOf('exclusive-whole-node', '-N2 --exclusive --gres=gpu:h100:2', 'srun python train.py')
    expect(stranded).toMatch(/^job: of the 16 GPUs of 2 whole nodes \(.*\) 4 are asked for: 75 % of the price/)
    expect(textsOf('exclusive-whole-node', '--exclusive --gres=gpu:h100:8', 'srun python train.py')).toEqual([])
  })
})

describe('a training of which nothing says how long it is', () => {
  test.each([
    ['alone', 'python train.py'],
    ['with a test behind it', 'python train.py\npython test.py --batch-size 4'],
  ])('is told of: %s', (_, body) => {
    expect(textsOf('no-training-facts', '--gres=gpu:h100:1', body)).toHaveLength(1)
  })

  test('but not where it is said', () => {
    expect(textsOf('no-training-facts', '--gres=gpu:h100:1', 'python train.py --epochs 3\npython test.py')).toEqual([])
  })
})

describe('a time limit far beyond the estimate', () => {
  test('says what a run that hangs would cost more', () => {
    // An hour of 8 GPUs is $16, five minutes of it $1.33.
    const [text] = textsOf('time-limit-too-long', '--gres=gpu:h100:8', '#GPUFARE runtime=5m\npython train.py')
    expect(text).toMatch(/^the time limit of 1h00m is 12 times the 5m.* that the run needs: if it hangs, \$15 more/)
  })

  test('and nothing of one that is only wide', () => {
    expect(textsOf('time-limit-too-long', '--gres=gpu:h100:8', '#GPUFARE runtime=10m\npython train.py')).toEqual([])
  })
})

describe('pods that nothing starts together', () => {
  const own = {
    ...emptyConfig,
    clusters: config.clusters.map(cluster => ({
      ...cluster,
      scheduler: 'kubernetes' as const,
      pools: cluster.pools.map(pool => ({ ...pool, resourceName: 'nvidia.com/gpu', nodeSelector: { pool: 'h100' } })),
    })),
  }
  const text = (metadata: string) => `apiVersion: batch/v1
kind: Job
metadata: {name: train${metadata}}
spec:
  parallelism: 4
  completions: 4
  activeDeadlineSeconds: 3600
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {pool: h100}
      containers: [{name: a, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]
`
  const gangTexts = (metadata: string) => {
    const [job] = readJobs(manifestOf('job.yaml', new TextEncoder().encode(text(metadata))))
    if (job === undefined) throw new Error('no job')
    const { warnings } = fareOf(job, new Map(), readTables(tablesFolder), own)
    return warnings.filter(warning => warning.code === 'no-gang').map(warning => warning.text)
  }

  test('have the price of those that wait for the last', () => {
    expect(gangTexts('')).toEqual([expect.stringMatching(/up to 24 GPUs stand idle; \$48.* an hour buy nothing$/)])
    expect(gangTexts(', labels: {kueue.x-k8s.io/queue-name: q}')).toEqual([])
  })
})
