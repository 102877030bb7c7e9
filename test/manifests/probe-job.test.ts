import { expect, test } from 'vitest'
import type { Manifest } from '../../src/manifest.ts'
import { probeJob } from '../../src/manifests/kubernetes/probe-job.ts'

const limits = { limitSeconds: 600, keptSeconds: 300, suffix: 'a1b2c3' }

function manifestOf(text: string): Manifest {
  const bytes = new TextEncoder().encode(text)
  return {
    path: 'job.yaml',
    name: 'job.yaml',
    text,
    bytes,
    environment: {},
    schedulerArguments: [],
    scriptArguments: [],
  }
}

const probed = (text: string) => probeJob(manifestOf(text), limits)

test('a Job gets a name, a limit and an end of its own; all else stays, comments too', () => {
  const text = `# the nightly one
apiVersion: batch/v1
kind: Job
metadata:
  name: "train"   # ours
spec:
  backoffLimit: 6 # retries
  ttlSecondsAfterFinished: 86400
  template:
    spec:
      containers: [{name: a, image: x}]
`
  expect(probed(text).text).toBe(`# the nightly one
apiVersion: batch/v1
kind: Job
metadata:
  name: "train-probe-a1b2c3"   # ours
spec:
  activeDeadlineSeconds: 600
  backoffLimit: 0 # retries
  ttlSecondsAfterFinished: 300
  template:
    spec:
      containers: [{name: a, image: x}]
`)
})

test('JSON, a generated name and a name that is too long', () => {
  const json = (metadata: object) =>
    JSON.stringify({ apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template: {} } })
  expect(JSON.parse(probed(json({ generateName: 'run-' })).text)).toEqual({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { generateName: 'run-', name: 'run-probe-a1b2c3' },
    spec: { activeDeadlineSeconds: 600, ttlSecondsAfterFinished: 300, backoffLimit: 0, template: {} },
  })
  const { name } = JSON.parse(probed(json({ name: 'x'.repeat(63) })).text).metadata
  expect(name).toBe(`${'x'.repeat(50)}-probe-a1b2c3`)
})

test('runs that follow each other become one, pods that belong together stay', () => {
  const of = (counts: string) =>
    probed(`apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {${counts}, template: {}}\n`).text
  expect(of('completions: 20, parallelism: 4')).toContain('completions: 1, parallelism: 1')
  expect(of('completions: 20')).toMatch(/"parallelism": 1, .*completions: 1/)
  expect(of('completions: 4, parallelism: 4')).toContain('completions: 4, parallelism: 4')
})

test('the log is that of the container with GPUs', () => {
  const containers = '[{name: proxy, image: y}, {name: train, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]'
  const text = `apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {containers: ${containers}}}}\n`
  expect(probed(text).container).toBe('train')
})

const job = 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {}}\n'

test.each([
  ['more than a Job', `${job}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n`, 'holds more than a Job'],
  ['a name that is an alias', job.replace('{name: a}', '{labels: {a: &n x}, name: *n}'), 'cannot be made a probe'],
])('%s is refused', (_, text, reason) => {
  expect(() => probed(text)).toThrow(reason)
})
