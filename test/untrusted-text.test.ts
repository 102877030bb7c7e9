import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { describeFailure } from '../src/cli.ts'
import { GpufareError, InputError } from '../src/errors.ts'
import { quoteManifests } from '../src/quoted-manifests.ts'
import { json } from '../src/reporters/json.ts'
import { table } from '../src/reporters/table.ts'
import { describeTerminal, plainPaint, tell } from '../src/terminal.ts'
import { usDollars } from '../src/units.ts'
import { makeFolder } from './folders.ts'

/** Clears the screen, paints red, names the window, moves up by an 8-bit control, and turns the direction of text. */
const orders = '\u001b[2J\u001b[31m\u001b]0;title\u0007\u009b1A\u202e\u007f'
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

const script = `#!/bin/bash
#SBATCH --job-name=a${orders}b
#SBATCH --partition=p${orders}q
#SBATCH --account=who${orders}
#SBATCH --gres=gpu:x${orders}100:2
#SBATCH --time=30:00
#SBATCH --bogus-${orders}
python train.py --model_name_or_path org/m${orders} --dataset d${orders}
`
const pod = `apiVersion: v1
kind: Pod
metadata:
  name: "a\\e[2J\\e[31mb\\nline 1: all is well"
  namespace: "n\\x9b1A"
spec:
  nodeSelector: { nvidia.com/gpu.product: "NVIDIA-\\e[31mH900\\u202e" }
  containers:
    - name: "main\\e[2J"
      image: "i\\e[2J"
      command: ["python", "train\\e[2J.py"]
      resources: { limits: { nvidia.com/gpu: "2" } }
`

async function quote(name: string, text: string, schedulerArguments: readonly string[] = []) {
  const path = join(makeFolder(), `f${orders.replaceAll('/', '')}`, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const terminal = describeTerminal(streams, { HOME: '/nowhere' })
  const quoted = await quoteManifests([path], {}, { schedulerArguments, scriptArguments: [] }, terminal)
  return { fares: quoted.flatMap(each => each.fares), currency: usDollars, remarks: [`remark${orders}`] }
}

const shown = { width: 100, paint: plainPaint, all: true, explain: true }

test.each([
  ['a script', 'job.sbatch', script.replace(/.*bogus.*\n/, '')],
  ['a Pod', 'pod.yaml', pod],
])('nothing in %s can order the terminal about, and it is seen that something is there', async (_, name, text) => {
  const report = await quote(name, text)
  const written = table.render(report, shown)
  expect(written).not.toMatch(obeyed)
  expect(written).toContain('\\u001b[2J')
  expect(written.split('\n').filter(line => line.startsWith('line 1: all is well'))).toEqual([])
})

test('JSON says exactly what the manifest says, and orders nothing either', async () => {
  const report = await quote('job.sbatch', script.replace(/.*bogus.*\n/, ''))
  const written = json.render(report, shown)
  expect(written).not.toMatch(obeyed)
  expect(JSON.parse(written).jobs[0].name).toBe(`a${orders}b`)
})

test('faults of a manifest, its path and an unknown option are shown as plain text', async () => {
  const failure = await quote('job.sbatch', script).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(InputError)
  const { text } = describeFailure(failure)
  expect(text).toContain('bogus')
  expect(text).not.toMatch(obeyed)
})

test('what gpufare says of others’ words is plain text, its own lines stay lines', () => {
  const stderr = new PassThrough()
  tell({ stderr }, `first${orders}\nsecond`)
  expect(String(stderr.read())).toMatch(/^gpufare: first\\u001b\[2J.*\nsecond\n$/)
  expect(describeFailure(new GpufareError(`no${orders}`, 1, `do${orders}`)).text).not.toMatch(obeyed)
})

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('%s is a word like any other', async word => {
  const { fares } = await quote(
    'job.sbatch',
    `#!/bin/bash
#SBATCH --gres=gpu:a100:1 --time=1:00:00
${word} $(${word} a)
axolotl ${word} c.yaml
litgpt ${word} a
python -m verl.trainer.${word}
lm_eval --model ${word} --tasks ${word}
python train.py --epochs 3 --model ${word} --precision ${word} --${word} 1
`,
  )
  expect(fares[0]?.workloads.find(({ epochs }) => epochs?.value === 3)?.modelName?.value).toBe(word)
  const labels = `{${word}: ${word}, karpenter.k8s.aws/instance-family: ${word}}`
  const spec = `nodeSelector: ${labels}, containers: [{name: a, image: ${word}, resources: {limits: {nvidia.com/gpu: 1}}}]`
  const kind = `apiVersion: ${word}/v1\nkind: ${word}\nmetadata: {name: !!${word} a, labels: {${word}: b}}\n`
  const { fares: known } = await quote('job.yaml', `${kind}spec: {template: {spec: {${spec}}}}\n`)
  expect(known[0]?.job.roles[0]?.gpuCount.value).toBe(1)
})
