import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { makeRepository } from '../git-repositories.ts'
import { openProgram, runProgram } from './program.ts'

const csi = '\u001b\\['

const script = (hours: number) =>
  `#!/bin/bash\n#SBATCH --partition=a100\n#SBATCH --gres=gpu:8\n#SBATCH --time=48:00:00\n#GPUFARE runtime=${hours}h\npython train.py\n`
const config = `clusters:
  - name: ours
    scheduler: slurm
    partitions: [{ name: a100, gpu: a100-80gb, gpus-per-node: 8, rate: 1 }]
policies: [{ rule: job-cost, level: deny, limit: 100 }]
`

describe('gpufare check, as it is built', () => {
  test('passes a cheap change and stops a dear one with 3, data on stdout and nothing on stderr', async () => {
    const { root, commit, git } = makeRepository()
    commit({ 'jobs/train.sbatch': script(1), 'gpufare.yaml': config })
    git('checkout', '-q', '-b', 'feature')
    commit({ 'jobs/train.sbatch': script(2) })
    const words = ['check', '--base', 'main', '--format', 'json']
    const cheap = await runProgram(words, { folder: root })
    expect(cheap).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(cheap.stdout)).toMatchObject({ verdict: 'pass', base: { changes: [{ differenceUsd: 8 }] } })
    commit({ 'jobs/train.sbatch': script(20) })
    const dear = await runProgram(words, { folder: root })
    expect(dear).toMatchObject({ exitCode: 3, stderr: '' })
    expect(JSON.parse(dear.stdout).findings).toMatchObject([{ rule: 'job-cost', place: { file: 'jobs/train.sbatch' } }])
    expect(git('status', '--porcelain')).toBe('')
  })

  test('a table names the files that changed, old and new', async () => {
    const { root, commit } = makeRepository()
    commit({ 'train.sbatch': script(1), 'gpufare.yaml': config })
    writeFileSync(join(root, 'train.sbatch'), script(2))
    const { stdout } = await runProgram(['check', '--base', 'HEAD'], { folder: root })
    expect(stdout).toMatch(/file +job +old +new +difference\n +train\.sbatch +train\.sbatch +\$\S+ +\$\S+ +\+\$8\.00\n/)
  })

  test('thousands of files are checked on several cores to the same outcome, in the same order', async () => {
    const { root, write } = makeRepository()
    const many = Array.from({ length: 1_100 }, (_, index) => [
      `jobs/${String(index).padStart(4, '0')}.sbatch`,
      script(1 + (index % 3)),
    ])
    write({ 'gpufare.yaml': config, ...Object.fromEntries(many) })
    const whole = await runProgram(['check', '--format', 'json'], { folder: root })
    const part = await runProgram(['check', '--format', 'json', '--include', '0*.sbatch'], { folder: root })
    const filesAndMoney = (text: string) =>
      JSON.parse(text).jobs.map((job: { place: object; totalUsd: object }) => [job.place, job.totalUsd])
    expect(filesAndMoney(whole.stdout)).toHaveLength(1_100)
    expect(filesAndMoney(whole.stdout).slice(0, 1_000)).toEqual(filesAndMoney(part.stdout))
  })

  test('a terminal keeps no trace of progress', async () => {
    const { root, write } = makeRepository()
    write({ 'train.sbatch': script(1), 'gpufare.yaml': config })
    const terminal = openProgram(['check'], { folder: root })
    expect(await terminal.ended).toBe(0)
    expect(terminal.text()).toContain('1 job priced')
    // Where the machine is slow it is shown, and taken away before the report.
    const kept = terminal.raw().replace(new RegExp(`\\r[^\\r]*(?=\\r${csi}K)`, 'g'), '')
    expect(kept).not.toContain('files checked')
  })

  test('the schema of its JSON is published', () => {
    const path = fileURLToPath(new URL('../../dist/schemas/gpufare-check.schema.json', import.meta.url))
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ title: 'gpufare check', type: 'object' })
  })
})
