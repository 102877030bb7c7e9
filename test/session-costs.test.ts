import { expect, test } from 'vitest'
import { emptyConfig } from '../src/config.ts'
import { type Fare, fareOf } from '../src/fare.ts'
import { manifestOf } from '../src/manifest.ts'
import { readJobs } from '../src/manifests/index.ts'
import { readTables } from '../src/pricing-data.ts'
import { tablesFolder } from '../src/quoted-manifests.ts'

const tables = readTables(tablesFolder)

function fareFor(text: string, file = 'job.sh'): Fare {
  const [job] = readJobs(manifestOf(file, Buffer.from(text)))
  if (job === undefined) throw new Error('a job is expected')
  return fareOf(job, new Map(), tables, emptyConfig)
}

const said = ({ warnings }: Fare) => warnings.filter(({ code }) => code === 'session').map(({ text }) => text)
const script = (limit: string) => `#!/bin/bash\n#SBATCH --gres=gpu:a100-80gb:1\n${limit}\njupyter lab\n`

test('a session costs a day of eight hours, a night of fifteen and a weekend of sixty-three', () => {
  const fare = fareFor(script(''))
  const rate = fare.session?.usdPerHour ?? Number.NaN
  expect(rate).toBeGreaterThan(0.5)
  expect(fare.session?.workingDayUsd).toBeCloseTo(8 * rate)
  expect(fare.session?.nightUsd).toBeCloseTo(15 * rate)
  expect(fare.session?.weekendUsd).toBeCloseTo(63 * rate)
  expect(said(fare)).toEqual([expect.stringMatching(/^jupyter lab holds .*a working day of 8 h; .*\(63 h\) \$\d+$/)])
})

test('its time limit ends it', () => {
  const fare = fareFor(script('#SBATCH --time=10:00:00'))
  const rate = fare.session?.usdPerHour ?? Number.NaN
  expect(fare.session?.workingDayUsd).toBeCloseTo(8 * rate)
  expect(fare.session?.weekendUsd).toBeCloseTo(10 * rate)
  expect(said(fare)).toEqual([expect.stringMatching(/its time limit ends it after 10h/)])
})

test('a Notebook is one whatever its image runs; training is none', () => {
  const notebook = `apiVersion: kubeflow.org/v1
kind: Notebook
metadata: {name: nb}
spec: {template: {spec: {nodeSelector: {nvidia.com/gpu.product: Tesla-T4}, containers: [{name: nb, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
`
  expect(fareFor(notebook, 'notebook.yaml').session?.what).toBe('Notebook')
  expect(fareFor(script('').replace('jupyter lab', 'python train.py')).session).toBeUndefined()
})
