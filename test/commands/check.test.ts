import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type CheckOptions, check } from '../../src/commands/check.ts'
import { CheckDocument } from '../../src/reporters/check-schema.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'
import { makeRepository, type TestRepository } from '../git-repositories.ts'

/** The exit code and the outcome, read by the published schema. */
async function checked(
  folder: string,
  options: Partial<CheckOptions> = {},
  paths: readonly string[] = [],
  home = '/nowhere',
) {
  const stdout = new PassThrough()
  const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() }
  const terminal = describeTerminal(streams, { HOME: home, PATH: process.env['PATH'] })
  const exitCode = await check(paths, { format: [{ format: 'json' }], color: false, ...options }, terminal, folder)
  return { exitCode, ...CheckDocument.parse(JSON.parse(String(stdout.read()))) }
}

/** A batch script that says itself how long it runs: half of 8 x $1 an hour and GPU below. */
function script(hours: number, more = ''): string {
  return `#!/bin/bash\n#SBATCH --partition=a100\n#SBATCH --gres=gpu:8\n#SBATCH --time=48:00:00\n#GPUFARE runtime=${hours}h\n${more}\npython train.py\n`
}

/** A cluster of A100s at $1 for each GPU-hour. */
const cluster = `clusters:
  - name: ours
    scheduler: slurm
    partitions: [{ name: a100, gpu: a100-80gb, gpus-per-node: 8, rate: 1 }]
`
const limit = (usd: number) => `policies: [{ rule: job-cost, level: deny, limit: ${usd} }]\n`

/** A Kubernetes Job of so many GPUs. */
function job(gpus: number, name = 'train'): string {
  return `apiVersion: batch/v1
kind: Job
metadata: { name: ${name} }
spec:
  activeDeadlineSeconds: 3600
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: train
          image: pytorch
          command: [python, train.py]
          resources: { limits: { nvidia.com/gpu: ${gpus} } }
`
}

function files({ jobs }: { readonly jobs: readonly { readonly place: { readonly file: string } }[] }): string[] {
  return jobs.map(({ place }) => place.file)
}

test('of jobs that say the same, those with other files beside them are priced by these', async () => {
  const trained = (number: number) => `#!/bin/bash
#SBATCH --job-name=sweep-${number}
#SBATCH --partition=a100
#SBATCH --gres=gpu:8
#SBATCH --time=48:00:00
source run.conf
srun torchrun --nproc_per_node=8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf --bf16 True \\
  --max_steps $STEPS --per_device_train_batch_size 4 --gradient_checkpointing True --model_max_length 2048
`
  const folder = makeFolder()
  writeFileSync(join(folder, 'gpufare.yaml'), cluster)
  for (const [below, steps] of [
    ['a', 1_000],
    ['b', 2_000],
  ] as const) {
    mkdirSync(join(folder, below))
    writeFileSync(join(folder, below, 'run.conf'), `STEPS=${steps}\n`)
    // More than are read at one time, so that the last ones are recalled.
    for (let number = 0; number < 60; number++) writeFileSync(join(folder, below, `${number}.sbatch`), trained(number))
  }
  const { jobs } = await checked(folder)
  const costs = (below: string) => {
    const own = jobs.filter(({ place }) => place.file.startsWith(below))
    return new Set(own.map(({ totalUsd }) => totalUsd?.p50))
  }
  const [a, b] = [[...costs('a/')], [...costs('b/')]]
  expect([jobs.length, a.length, b.length]).toEqual([120, 1, 1])
  expect((b[0] ?? 0) / (a[0] ?? 0)).toBeGreaterThan(1.8)
})

describe('what is found', () => {
  test('manifests by what they hold, in folders and under any name; nothing that git ignores', async () => {
    const { root, commit, write } = makeRepository()
    commit({
      '.gitignore': 'vendor/\n',
      'jobs/a.sbatch': script(1),
      'jobs/no-suffix': script(1),
      'k8s/job.yml': job(1),
      'k8s/job.json': JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'gpu' }, spec: {} }),
      'k8s/service.yaml': 'apiVersion: v1\nkind: Service\nmetadata: { name: gpu }\nspec: { ports: [] }\n',
      'k8s/crd.yaml': 'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: gpu }\nspec: {}\n',
      'run.sh': '#!/bin/bash\nnvidia-smi\n',
      'values.yaml': 'gpu: 8\n',
      'README.md': script(1),
    })
    write({ 'vendor/b.sbatch': script(1), 'new.sbatch': script(1), 'odd\nname.sbatch': script(1) })
    const report = await checked(root)
    expect(files(report).sort()).toEqual([
      'jobs/a.sbatch',
      'jobs/no-suffix',
      'k8s/job.yml',
      'new.sbatch',
      'odd\nname.sbatch',
    ])
    expect(report).toMatchObject({ exitCode: 2, filesWithJobs: 5 })
    expect(report.faults.map(({ place }) => place.file)).toEqual(['k8s/job.json'])
  })

  test('only what was asked for: paths, globs, and the ignore list taken out', async () => {
    const { root, commit } = makeRepository()
    commit({
      'a/one.sbatch': script(1),
      'a/two.sbatch': script(1),
      'b/old/three.sbatch': script(1),
      'b/four.sbatch': script(1),
      'gpufare.yaml': 'ignore: [old/, "/a/one.*"]\n',
    })
    expect(files(await checked(root))).toEqual(['a/two.sbatch', 'b/four.sbatch'])
    expect(files(await checked(root, {}, ['b']))).toEqual(['b/four.sbatch'])
    expect(files(await checked(root, { include: ['t*.sbatch'] }))).toEqual(['a/two.sbatch'])
    expect(files(await checked(join(root, 'a'), {}, ['../b/four.sbatch']))).toEqual(['../b/four.sbatch'])
    await expect(checked(root, {}, ['nowhere', '/etc'])).rejects.toThrow(/nowhere .*no such file[\s\S]*\/etc .*outside/)
  })

  const kubectl = process.env['PATH']?.split(':').find(folder => existsSync(join(folder, 'kubectl')))

  test.skipIf(kubectl === undefined)(
    'kustomizations of the work tree are rendered, each as it is applied',
    async () => {
      const { root, commit } = makeRepository()
      commit({
        'base/kustomization.yaml': 'resources: [job.yaml]\n',
        'base/job.yaml': job(8),
        'prod/kustomization.yaml': 'resources: [../base]\nnamePrefix: prod-\n',
        'test/kustomization.yaml': 'resources: [../base]\nnamePrefix: test-\n',
        'far/kustomization.yaml': 'resources: [job.yaml, "github.com/org/repo//gpu?ref=v1"]\n',
        'far/job.yaml': job(8, 'far'),
        'web/kustomization.yaml': 'resources: [web.yaml]\n',
        'web/web.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n',
      })
      const report = await checked(root)
      expect(report.jobs.map(({ name }) => name).sort()).toEqual(['prod-train', 'test-train'])
      expect(report.notRendered).toEqual([{ file: 'far', reason: expect.stringMatching(/would fetch something/) }])
      // What a commit holds is on no disk.
      const ofCommit = await checked(root, { head: 'HEAD' })
      expect(ofCommit.jobs).toEqual([])
      expect(ofCommit.notRendered.map(({ file }) => file).sort()).toEqual(['base', 'far'])
    },
  )

  test('charts, kustomizations and templates are named and not priced', async () => {
    const { root, commit } = makeRepository()
    commit({
      'charts/train/Chart.yaml': 'apiVersion: v2\nname: train\n',
      'charts/train/templates/job.yaml': '{{ if .Values.gpu }}\n',
      'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\n',
      'charts/web/templates/web.yaml': 'kind: {{ .Values.x }}\n',
      'prod/kustomization.yaml': 'resources: [job.yaml]\n',
      'prod/job.yaml': job(8),
      'prod/patch.yaml': 'apiVersion: batch/v1\nkind: Job\nmetadata: { name: gpu }\n',
      'alone.yaml': job(8).replace('name: train }', 'name: "{{ .Values.name }}" }'),
    })
    const report = await checked(root, { head: 'HEAD' })
    expect(report).toMatchObject({ exitCode: 0, jobs: [] })
    expect(report.notRendered.map(({ file }) => file).sort()).toEqual(['alone.yaml', 'charts/train', 'prod'])
  })

  test('without a repository the folder is walked', async () => {
    const root = makeFolder()
    writeFileSync(join(root, 'a.sbatch'), script(1))
    expect(files(await checked(root))).toEqual(['a.sbatch'])
    await expect(checked(root, { base: 'HEAD' })).rejects.toMatchObject({ exitCode: 2 })
  })

  test('a link that leads out of the repository is not followed, nor is a named pipe waited for', async () => {
    const outside = makeFolder()
    writeFileSync(join(outside, 'a.sbatch'), script(1))
    writeFileSync(join(outside, 'ds.json'), '{"train_micro_batch_size_per_gpu": 77}')
    const { root } = makeRepository()
    symlinkSync(outside, join(root, 'linked'))
    symlinkSync(join(outside, 'a.sbatch'), join(root, 'b.sbatch'))
    const report = await checked(root, {}, ['.', 'b.sbatch'])
    expect(report.jobs).toEqual([])
  })
})

test('files that differ in the number of their job come out as each of them alone does', async () => {
  const folder = makeFolder()
  const named = (name: string, more = '') => script(8, `#SBATCH --job-name=${name}\n${more}`)
  writeFileSync(join(folder, 'gpufare.yaml'), `${cluster}${limit(30)}`)
  // more than are read at one time, so that the last ones have twins that are known
  const paths = Array.from({ length: 60 }, (_, index) => `sweep-${index}.sbatch`)
  for (const path of paths) {
    const isOdd = path === 'sweep-57.sbatch'
    writeFileSync(join(folder, path), named(path.replace('.sbatch', ''), isOdd ? '#SBATCH --requeue' : ''))
  }
  const together = await checked(folder)
  const some = ['sweep-2.sbatch', 'sweep-57.sbatch', 'sweep-58.sbatch', 'sweep-9.sbatch']
  const alone = await Promise.all(some.map(path => checked(folder, {}, [path])))
  const ofSome = ({ place }: { readonly place?: { readonly file: string } }) => some.includes(place?.file ?? '')
  expect(together.jobs).toHaveLength(60)
  expect(together.jobs.filter(ofSome)).toEqual(alone.flatMap(({ jobs }) => jobs))
  expect(together.findings.filter(ofSome)).toEqual(alone.flatMap(({ findings }) => findings))
  expect(together.findings).toHaveLength(60)
})

describe('the exit code', () => {
  test('is 0 within limits and 3 over one', async () => {
    const { root, commit } = makeRepository()
    commit({ 'a.sbatch': script(4), 'gpufare.yaml': cluster + limit(100) })
    expect(await checked(root)).toMatchObject({ exitCode: 0, verdict: 'pass', findings: [] })
    commit({ 'gpufare.yaml': cluster + limit(10) })
    const report = await checked(root)
    expect(report).toMatchObject({ exitCode: 3, verdict: 'deny', jobsPriced: 1 })
    expect(report.findings).toMatchObject([{ rule: 'job-cost', level: 'deny', place: { file: 'a.sbatch' } }])
    expect(report.jobs[0]?.totalUsd?.p50).toBeCloseTo(32)
  })

  test('is 5 only with --strict where a job could not be estimated', async () => {
    const { root, commit } = makeRepository()
    commit({ 'a.sbatch': '#!/bin/bash\n#SBATCH --gres=gpu:nosuch:8\npython train.py\n' })
    expect(await checked(root)).toMatchObject({ exitCode: 0, jobsUnknown: 1 })
    expect(await checked(root, { strict: true })).toMatchObject({ exitCode: 5, verdict: 'unknown' })
  })

  test('is 2 for broken manifests and names every one, also where a limit is broken', async () => {
    const { root, commit } = makeRepository()
    commit({
      'bad.sbatch': '#!/bin/bash\n#SBATCH --gres=gpu:8\n#SBATCH --time=banana\n',
      'bad.yaml': `${job(1)}   nvidia: [\n`,
      'a.sbatch': script(4),
      'gpufare.yaml': cluster + limit(10),
    })
    const report = await checked(root, { strict: true })
    expect(report).toMatchObject({ exitCode: 2, verdict: 'broken', jobsPriced: 1 })
    expect(report.faults.map(({ place }) => place.file)).toEqual(['bad.sbatch', 'bad.yaml'])
    expect(report.findings).toHaveLength(1)
  })

  test('is 2 for a broken configuration, which is named once', async () => {
    const { root, commit } = makeRepository()
    commit({ 'a.sbatch': script(1), 'b.sbatch': script(1), 'gpufare.yaml': 'polices: []\n' })
    const { exitCode, faults } = await checked(root)
    expect({ exitCode, faults }).toMatchObject({ exitCode: 2, faults: [{ place: { file: 'gpufare.yaml', line: 1 } }] })
  })

  test('is 2 for a file that is named and cannot be read; found in a folder it is passed over', async () => {
    const { root, commit } = makeRepository()
    commit({ 'a.sbatch': script(1), weights: 'a\0b', 'plot.png': 'a\0b', 'notes.txt': 'hello\n' })
    const { exitCode, faults } = await checked(root, {}, ['weights'])
    expect({ exitCode, faults }).toMatchObject({
      exitCode: 2,
      faults: [{ place: { file: 'weights' }, message: 'is not text: it holds binary data' }],
    })
    expect(await checked(root)).toMatchObject({ exitCode: 0, jobsPriced: 1, faults: [] })
    // As a shell names whatever lies there: no scheduler takes a picture, and prose is no broken manifest.
    expect(await checked(root, {}, ['plot.png', 'notes.txt'])).toMatchObject({ exitCode: 0, faults: [] })
    writeFileSync(join(root, 'huge.yaml'), Buffer.alloc(10_000_001, 'a'))
    expect((await checked(root, {}, ['huge.yaml'])).faults).toMatchObject([
      { message: 'it cannot be read: larger than 10 MB' },
    ])
    symlinkSync('nowhere', join(root, 'link.sbatch'))
    await expect(checked(root, {}, ['link.sbatch'])).rejects.toThrow('there is no such file or folder')
  })

  test('options that exclude each other are refused', async () => {
    const { root } = makeRepository()
    await expect(checked(root, { staged: true, head: 'x' })).rejects.toMatchObject({ exitCode: 2 })
    await expect(checked(root, { exact: true })).rejects.toMatchObject({ exitCode: 2 })
  })
})

/** What is said of each job that changed. */
function changesIn({ base }: Awaited<ReturnType<typeof checked>>) {
  return base?.changes.map(({ file, renamedFrom, before, after, differenceUsd }) => ({
    file,
    ...(renamedFrom !== undefined && { renamedFrom }),
    before: before?.totalUsd?.p50,
    after: after?.totalUsd?.p50,
    difference: differenceUsd,
  }))
}

describe('against a base', () => {
  function branched(): TestRepository {
    const test = makeRepository()
    test.commit({
      'gpufare.yaml': cluster,
      'same.sbatch': script(1),
      'dearer.sbatch': script(1),
      'gone.sbatch': script(2),
      'old name.sbatch': script(3, '# a comment that stays\n# and another one'),
    })
    test.git('checkout', '-q', '-b', 'feature')
    return test
  }

  const change = {
    'dearer.sbatch': script(4),
    'gone.sbatch': undefined,
    'new.sbatch': script(1, 'module load a\nmodule load b\nmodule load c\ncd d\nls\npwd\ndate\nid'),
    'old name.sbatch': undefined,
    'renamed.sbatch': script(5, '# a comment that stays\n# and another one'),
  }
  const expected = [
    { file: 'dearer.sbatch', before: 8, after: 32, difference: 24 },
    { file: 'new.sbatch', before: undefined, after: 8, difference: 8 },
    { file: 'renamed.sbatch', renamedFrom: 'old name.sbatch', before: 24, after: 40, difference: 16 },
    { file: 'gone.sbatch', before: 16, after: undefined, difference: -16 },
  ]

  test('changed, new, renamed and deleted manifests are priced on both sides: work tree, index and revision alike', async () => {
    const test = branched()
    test.write(change)
    expect(changesIn(await checked(test.root, { base: 'main' }))).toEqual(expected)
    expect(changesIn(await checked(test.root, { base: 'main', staged: true }))).toEqual([])
    test.git('add', '-A')
    expect(changesIn(await checked(test.root, { base: 'main', staged: true }))).toEqual(expected)
    test.git('commit', '-q', '-m', 'change')
    test.write({ 'dearer.sbatch': script(40) })
    expect(changesIn(await checked(test.root, { base: 'main', head: 'feature' }))).toEqual(expected)
    expect(test.git('status', '--porcelain')).toBe('M dearer.sbatch')
  })

  test('what the base did since they parted is nobody’s change, unless --exact says so', async () => {
    const test = branched()
    test.commit({ 'dearer.sbatch': script(4) })
    test.git('checkout', '-q', 'main')
    test.commit({ 'same.sbatch': script(9) })
    const options = { base: 'main', head: 'feature' }
    expect(changesIn(await checked(test.root, options))?.map(({ file }) => file)).toEqual(['dearer.sbatch'])
    const exact = await checked(test.root, { ...options, exact: true })
    expect(changesIn(exact)?.map(({ file }) => file)).toEqual(['dearer.sbatch', 'same.sbatch'])
  })

  test('a file that manifests refer to prices them anew, by way of a script too', async () => {
    const test = makeRepository()
    const train = 'torchrun --nproc_per_node=8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf'
    const steps = '--max_steps 1000 --per_device_train_batch_size 4 --block_size 2048 --config'
    const uses = (line: string) => `#!/bin/bash\n#SBATCH --gres=gpu:a100:8\n#SBATCH --time=9:00:00\n${line}\n`
    test.commit({
      'conf/ds.json': '{"zero_optimization": {"stage": 3}}',
      'jobs/a.sbatch': uses(`${train} ${steps} x --deepspeed ../conf/ds.json`),
      'jobs/b.sbatch': uses(`${train} ${steps} x --deepspeed ../conf/ds.json`),
      'jobs/run.sh': `${train} --deepspeed ../conf/ds.json\n`,
      'jobs/script.sbatch': uses('bash run.sh'),
      'jobs/other.sbatch': uses(`${train} ${steps} x`),
      'jobs/mentions.sbatch': uses(`# ds.json is not used\n${train} ${steps} x`),
    })
    test.write({ 'conf/ds.json': '{"zero_optimization": {"stage": 2}}' })
    const named = changesIn(await checked(test.root, { base: 'HEAD' }))?.map(({ file }) => file)
    expect(named).toEqual(['jobs/a.sbatch', 'jobs/b.sbatch', 'jobs/script.sbatch'])
    test.git('add', '-A')
    expect(changesIn(await checked(test.root, { base: 'HEAD', staged: true }))).toHaveLength(3)
  })

  test('another rate in gpufare.yaml prices all manifests below it anew', async () => {
    const test = branched()
    test.write({ 'gpufare.yaml': cluster.replace('rate: 1', 'rate: 2') })
    const changes = changesIn(await checked(test.root, { base: 'HEAD' }))
    expect(changes).toHaveLength(4)
    expect(changes).toContainEqual({ file: 'same.sbatch', before: 8, after: 16, difference: 8 })
  })

  test('a branch without a past, and zeros, are compared with nothing', async () => {
    const test = branched()
    const changes = changesIn(await checked(test.root, { base: '0'.repeat(40) }))
    expect(changes).toHaveLength(4)
    expect(changes?.every(({ before }) => before === undefined)).toBe(true)
  })

  test('the rules of the base count: a change cannot loosen them for itself', async () => {
    const test = makeRepository()
    test.commit({ 'a.sbatch': script(1), 'gpufare.yaml': cluster + limit(20) })
    test.git('checkout', '-q', '-b', 'feature')
    const loose = `${cluster}${limit(1000)}exemptions: [{ rule: job-cost, reason: me, until: 2999-01-01 }]\n`
    test.commit({ 'a.sbatch': script(4), 'gpufare.yaml': loose })
    expect(await checked(test.root)).toMatchObject({ exitCode: 0 })
    expect(await checked(test.root, { base: 'main' })).toMatchObject({ exitCode: 3 })
    test.git('checkout', '-q', 'main')
    test.git('merge', '-q', 'feature')
    test.commit({ 'a.sbatch': script(5) })
    expect(await checked(test.root, { base: 'HEAD~1' })).toMatchObject({ exitCode: 0 })
  })

  test('a rule on the increase compares with the base', async () => {
    const test = branched()
    const rule = 'policies: [{ rule: cost-increase, level: deny, limit: 20 }]\n'
    test.git('checkout', '-q', 'main')
    test.commit({ 'gpufare.yaml': cluster + rule })
    test.write({ 'dearer.sbatch': script(4), 'same.sbatch': script(2) })
    const { exitCode, findings } = await checked(test.root, { base: 'HEAD' })
    expect(exitCode).toBe(3)
    expect(findings.map(({ place }) => place.file)).toEqual(['dearer.sbatch'])
  })
})

describe('a policy file that was named', () => {
  test('counts, and the repository cannot exempt itself from it', async () => {
    const test = makeRepository()
    const exemption = 'exemptions: [{ rule: job-cost, reason: me, until: 2999-01-01 }]\n'
    test.commit({ 'a.sbatch': script(4), 'gpufare.yaml': cluster + exemption })
    const policy = join(makeFolder(), 'policy.yaml')
    writeFileSync(policy, limit(10))
    expect(await checked(test.root)).toMatchObject({ exitCode: 0 })
    expect(await checked(test.root, { policy })).toMatchObject({ exitCode: 3 })
  })

  test('the user’s own file counts too', async () => {
    const test = makeRepository()
    test.commit({ 'a.sbatch': script(4), 'gpufare.yaml': cluster })
    const home = makeFolder()
    mkdirSync(join(home, '.config/gpufare'), { recursive: true })
    writeFileSync(join(home, '.config/gpufare/gpufare.yaml'), limit(10))
    expect(await checked(test.root, {}, [], home)).toMatchObject({ exitCode: 3 })
  })
})
