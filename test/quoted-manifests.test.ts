import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { quoteManifests } from '../src/quoted-manifests.ts'
import { describeTerminal } from '../src/terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'gpufare-quoted-'))
afterAll(() => rmSync(folder, { recursive: true }))

const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
const terminal = describeTerminal(streams, { HOME: folder })
const nothing = { schedulerArguments: [], scriptArguments: [] }

async function faresOf(...paths: readonly string[]) {
  return (await quoteManifests(paths, {}, nothing, terminal)).map(({ fares }) => fares)
}

test.each([
  ['the time limit is known', 'python train.py'],
  ['the runtime is declared', '#GPUFARE runtime=4h on 8xa100-80gb\npython train.py'],
  [
    'the run is understood',
    'torchrun --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf --max_steps 100',
  ],
])('a manifest among others is quoted as it is alone, where %s', async (about, commands) => {
  const paths = ['first', 'second'].map(name => {
    const path = join(folder, `${name}-${about.replaceAll(' ', '-')}.sbatch`)
    writeFileSync(
      path,
      `#!/bin/bash\n#SBATCH --job-name=${name}\n#SBATCH --gres=gpu:a100:8 --time=8:00:00\n${commands}\n`,
    )
    return path
  })
  const [first, second] = paths.map(path => faresOf(path))
  expect(await faresOf(...paths)).toEqual([...((await first) ?? []), ...((await second) ?? [])])
})

test.each([
  ['says nothing of it', 'clusters: []', true],
  [
    'says what it is',
    'clusters: [{name: lab, scheduler: slurm, partitions: [{name: a100, gpu: a100-80gb, gpus-per-node: 8}]}]',
    false,
  ],
])('a GPU type is guessed from the name of a partition where the configuration %s', async (_, yaml, isGuessed) => {
  const [path, config] = [join(folder, 'hint.sbatch'), join(folder, 'hint.yaml')]
  writeFileSync(path, '#!/bin/bash\n#SBATCH -p a100 --gres=gpu:4 -t 1:00:00\npython train.py\n')
  writeFileSync(config, yaml)
  const [quoted] = await quoteManifests([path], { config }, nothing, terminal)
  const { warnings = [], quotes = [] } = quoted?.fares[0] ?? {}
  const said = [...warnings.map(({ text }) => text), ...quotes.flatMap(({ candidate }) => candidate.remarks)].join()
  expect(said.includes('guessed')).toBe(isGuessed)
  expect(quotes[0]?.candidate.placements[0]?.gpu.name).toMatch(/^a100/)
})
