import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findCommandLines } from '../src/command-lines.ts'
import type { Job } from '../src/job.ts'
import { manifestOf } from '../src/manifest.ts'
import { readJobsWithFiles, readReferredFiles } from '../src/referred-files.ts'
import { roleNamed } from './workloads/runs.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gpufare-'))
  mkdirSync(join(root, 'repository/jobs/conf'), { recursive: true })
  writeFileSync(join(root, 'secret.json'), '{"secret": true}')
})
afterEach(() => rmSync(root, { recursive: true }))

const folder = () => join(root, 'repository/jobs')

function read(script: string) {
  const { commandLines } = findCommandLines(script, { file: 'job.sbatch', firstLine: 1, variables: {}, arguments: [] })
  const job: Job = {
    name: 'job',
    scheduler: 'slurm',
    kind: 'batch script',
    place: { file: 'job.sbatch' },
    roles: [roleNamed('job', 1, 1, commandLines)],
    endless: false,
    destination: {},
    declarations: {},
    warnings: [],
  }
  return Object.fromEntries(readReferredFiles(job, folder()))
}

/** The program itself, `t.py`, is looked for as well, and is not there. */
const train = (path: string) => `deepspeed t.py --num_train_epochs 1 --deepspeed ${path}`

describe('what is read', () => {
  test('a file beside the manifest', () => {
    writeFileSync(join(folder(), 'conf/z2.json'), '{}')
    expect(read(train('conf/z2.json'))['conf/z2.json']).toEqual({ text: '{}' })
  })

  test('a path that begins where the job was submitted', () => {
    writeFileSync(join(folder(), 'conf/z2.json'), '{}')
    expect(read(train('$SLURM_SUBMIT_DIR/conf/z2.json'))['conf/z2.json']).toEqual({ text: '{}' })
  })

  test('a file elsewhere in the repository', () => {
    mkdirSync(join(root, 'repository/.git'))
    writeFileSync(join(root, 'repository/z2.json'), '{}')
    expect(read(train('../z2.json'))['../z2.json']).toEqual({ text: '{}' })
  })

  test('a script, and what it refers to in turn', () => {
    writeFileSync(join(folder(), 'node.sh'), `${train('conf/z3.json')}\n`)
    writeFileSync(join(folder(), 'conf/z3.json'), '[]')
    expect(read('srun bash node.sh')).toMatchObject({
      'node.sh': { text: expect.any(String) },
      'conf/z3.json': { text: '[]' },
    })
  })

  test('a file in the folder that the script entered', () => {
    mkdirSync(join(folder(), 'app/conf'), { recursive: true })
    writeFileSync(join(folder(), 'app/conf/z2.json'), '{}')
    expect(read(`cd app\n${train('conf/z2.json')}`)['app/conf/z2.json']).toEqual({ text: '{}' })
  })

  test('scripts that it sources, and what these source', () => {
    writeFileSync(join(folder(), 'env.sh'), 'EPOCHS=3\n. conf/more.sh')
    writeFileSync(join(folder(), 'conf/more.sh'), 'Z=conf/z2.json')
    writeFileSync(join(folder(), 'conf/z2.json'), '{}')
    const script = '#!/bin/bash\nsource env.sh\ndeepspeed t.py --num_train_epochs $EPOCHS --deepspeed $Z\n'
    const [[job, files] = []] = readJobsWithFiles(manifestOf('job.sbatch', new TextEncoder().encode(script)), folder())
    const [line] = job?.roles[0]?.commandLines ?? []
    expect(line?.arguments.map(word => word.text)).toEqual(['--num_train_epochs', '3', '--deepspeed', 'conf/z2.json'])
    expect([...(files?.keys() ?? [])]).toEqual(expect.arrayContaining(['env.sh', 'conf/more.sh', 'conf/z2.json']))
  })

  test('no file but the program where the command lines refer to none', () => {
    expect(Object.keys(read('python train.py --epochs 3'))).toEqual(['train.py'])
  })
})

describe('what is not read, and why', () => {
  test('a file that is not there', () => {
    expect(read(train('conf/none.json'))['conf/none.json']).toEqual({ notRead: expect.stringMatching(/not found/) })
  })

  test('a path that leaves the folder', () => {
    expect(read(train('../../secret.json'))['../../secret.json']).toEqual({ notRead: expect.stringMatching(/outside/) })
  })

  test('a path that leaves the repository', () => {
    mkdirSync(join(root, 'repository/.git'))
    expect(read(train('../../secret.json'))['../../secret.json']).toEqual({ notRead: expect.stringMatching(/outside/) })
  })

  test('an absolute path', () => {
    expect(read(train(join(root, 'secret.json')))[join(root, 'secret.json')]).toEqual({
      notRead: expect.stringMatching(/absolute/),
    })
  })

  test('a link that leads out', () => {
    symlinkSync(join(root, 'secret.json'), join(folder(), 'conf/link.json'))
    expect(read(train('conf/link.json'))['conf/link.json']).toEqual({ notRead: expect.stringMatching(/outside/) })
  })

  test('a folder behind a link that leads out', () => {
    symlinkSync(root, join(folder(), 'conf/up'))
    expect(read(train('conf/up/secret.json'))['conf/up/secret.json']).toEqual({
      notRead: expect.stringMatching(/outside/),
    })
  })

  test('a folder', () => {
    mkdirSync(join(folder(), 'conf/folder.json'))
    expect(read(train('conf/folder.json'))['conf/folder.json']).toEqual({ notRead: 'not a file' })
  })

  test('a file of more than five megabytes', () => {
    writeFileSync(join(folder(), 'conf/large.json'), ' '.repeat(5_000_001))
    expect(read(train('conf/large.json'))['conf/large.json']).toEqual({ notRead: 'larger than 5 MB' })
  })

  test('a file that is no text', () => {
    writeFileSync(join(folder(), 'conf/z.json'), Buffer.from([1, 0, 2]))
    expect(read(train('conf/z.json'))['conf/z.json']).toEqual({ notRead: 'not a text file' })
  })

  test('a path that is only known when the job runs is not looked for', () => {
    expect(Object.keys(read(train('$HOME/z.json')))).toEqual(['t.py'])
  })
})
