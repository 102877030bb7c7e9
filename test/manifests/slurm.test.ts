// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are bash
import { describe, expect, test } from 'vitest'
import { InputError } from '../../src/errors.ts'
import type { Job, Role } from '../../src/job.ts'
import { slurm } from '../../src/manifests/slurm/index.ts'
import type { WarningCode } from '../../src/warning.ts'
import { scriptManifest } from './script-manifest.ts'

type Extra = Parameters<typeof scriptManifest>[1]

/** The job of a script with these directives. */
function readDirectives(directives: string, extra: Extra = {}, body = 'python train.py'): Job {
  const lines = directives.split('\n').map(line => (line === '' || line.startsWith('#') ? line : `#SBATCH ${line}`))
  const [job] = slurm.read(scriptManifest(['#!/bin/bash', ...lines, body, ''].join('\n'), extra))
  if (job === undefined) throw new Error('no job')
  return job
}

function onlyRole(directives: string, extra: Extra = {}, body?: string): Role {
  const [role] = readDirectives(directives, extra, body).roles
  if (role === undefined) throw new Error('no role')
  return role
}

function faults(directives: string, extra: Extra = {}): string {
  try {
    readDirectives(directives, extra)
  } catch (error) {
    if (error instanceof InputError) return error.message
    throw error
  }
  throw new Error('it was read')
}

function codes(directives: string, body?: string): readonly WarningCode[] {
  return readDirectives(directives, {}, body).warnings.map(warning => warning.code)
}

describe('how many GPUs a request comes to', () => {
  test.each<[directives: string, nodes: number, perNode: number, total: number]>([
    ['--gres=gpu:a100:2', 1, 2, 2],
    ['--gres=gpu:a100:2 -N2', 2, 2, 4],
    ['--gres=gpu', 1, 1, 1],
    ['--gres=gpu:a100', 1, 1, 1],
    ['--gres=gres:gpu:2', 1, 2, 2],
    ['--gres=gpu:a100:2,gpu:t4:1', 1, 3, 3],
    ['--gres=gpu:a100:2\n--gres=gpu:t4:1', 1, 1, 1],
    ['--gres=gpu:a100:1,gpu:a100:2', 1, 2, 2],
    ['--gres=gpu:0', 1, 0, 0],
    ['--gres=none', 1, 0, 0],
    ['-G 4', 1, 4, 4],
    ['-G a100', 1, 1, 1],
    ['-G 12', 2, 6, 12],
    ['-N2 -G 3', 2, 2, 3],
    ['-G a100:2,a100:4', 1, 4, 4],
    ['--gpus-per-node=a100:2 -N2', 2, 2, 4],
    ['--gpus-per-node=4 --gpus=8', 2, 4, 8],
    ['--gres=gpu:2 -G 4', 2, 2, 4],
    ['--gpus-per-task=2 -n 4', 1, 8, 8],
    ['--gpus-per-task=1 -n 16', 2, 8, 16],
    ['--gpus-per-task=1 --ntasks-per-node=8 -N2', 2, 8, 16],
    ['--gpus-per-task=1 -N2', 2, 1, 2],
    ['--gpus-per-node=4 --gpus-per-task=2 -N2', 2, 4, 8],
    ['--gpus-per-socket=2 --sockets-per-node=2', 1, 4, 4],
    ['--ntasks-per-gpu=2 -n 8', 1, 4, 4],
    ['--ntasks-per-gpu=1 --gres=gpu:8 -N2', 2, 8, 16],
    ['-N 1-3 --gres=gpu:8', 3, 8, 24],
    ['-n 8 --ntasks-per-node=4 --gres=gpu:4', 2, 4, 8],
    ['-N 4 -n 2 --gres=gpu:4', 2, 4, 8],
    ['-w a100-[1-3] --gres=gpu:2', 3, 2, 6],
    ['-w node[01-03,07],login --gpus-per-node=1', 5, 1, 5],
    ['-N -2 --gres=gpu:1', 2, 1, 2],
    ['--gres=gpu:2,nvme:100 -N2', 2, 2, 4],
    ['--exclusive --gres=gpu:1', 1, 1, 1],
    ['-p cpu -n 4', 1, 0, 0],
    ['--tres-per-task=cpu:4,gres/gpu:2 -n 4', 1, 8, 8],
    ['--tres-per-task=gres/gpu:a100=1 -n 2', 1, 2, 2],
    ['--gres=shard:4 -N2', 2, 1, 2],
    ['--gres=gpu:2,mps:50', 1, 2, 2],
    ['--gres=tmp:100G,gpu:a100:1', 1, 1, 1],
    ['-G 8 --gres=gpumem:20g', 1, 8, 8],
  ])('%s', (directives, nodes, perNode, total) => {
    const role = onlyRole(directives)
    expect([role.replicas.value, role.gpusPerReplica.value, role.gpuCount.value]).toEqual([nodes, perNode, total])
  })
})

describe('what a node of the job has', () => {
  test.each<[directives: string, cpus: number | undefined]>([
    ['-n 4 -c 20', 80],
    ['-n 4', 4],
    ['--cpus-per-gpu=8 -G 2', 16],
    ['-N2 --ntasks-per-node=4 -c 2', 8],
    ['--mincpus=16', 16],
    ['--gres=gpu:1', undefined],
    ['--exclusive --ntasks-per-node=4', undefined],
  ])('%s has %s CPUs', (directives, cpus) => {
    expect(onlyRole(directives).cpusPerReplica?.value).toBe(cpus)
  })

  test.each<[directives: string, gib: number | 'all' | undefined]>([
    ['--mem=64G', 64],
    ['--mem=1024', 1],
    ['--mem=1t', 1024],
    ['--mem=0', 'all'],
    ['--mem-per-cpu=2G -c 4', 8],
    ['--mem-per-gpu=10G --gres=gpu:2', 20],
    ['--mem-per-cpu=1G -n 4 -N 2', 2],
    ['--gres=gpu:1', undefined],
  ])('%s has %s GiB', (directives, gib) => {
    const bytes = onlyRole(directives).memoryBytesPerReplica?.value
    expect(typeof bytes === 'number' ? bytes / 2 ** 30 : bytes).toBe(gib)
  })
})

describe('the time limit', () => {
  test.each<[time: string, minutes: number]>([
    ['90', 90],
    ['1:30', 2],
    ['0:01', 1],
    ['01:02:03', 63],
    ['100:00', 100],
    ['00:90:00', 90],
    ['99:99:99', 99 * 60 + 99 + 2],
    ['1-', 1440],
    ['1-2', 26 * 60],
    ['1-2:30:15', 26 * 60 + 31],
    ['1-25', 49 * 60],
    ['2-12', 60 * 60],
  ])('%s is %s minutes', (time, minutes) => {
    expect(onlyRole(`--time=${time}`).timeLimitSeconds?.value).toBe(minutes * 60)
  })

  test.each(['0', 'UNLIMITED', 'infinite', '-1', '0-0:0:0'])('%s is no limit', time => {
    expect(onlyRole(`-t ${time}`).timeLimitSeconds).toBeUndefined()
    expect(codes(`-t ${time}`)).toContain('no-time-limit')
  })

  test.each(['30s', '1h', '1.5', '1:', '1:2:3:4', '+5', '1-2-3'])('%s is refused', time => {
    expect(faults(`--time=${time}`)).toContain(`--time=${time}: not understood`)
  })

  test('a remark that says another length of time is pointed out', () => {
    expect(codes('--time=24:00     # one day')).toContain('time-format-trap')
    expect(codes('--time=24   # 24 hours')).toContain('time-format-trap')
    expect(codes('--time=2-0    # two days')).not.toContain('time-format-trap')
    expect(codes('--time=1-10   # a day and ten hours, not one hour ten')).not.toContain('time-format-trap')
    expect(codes('--time=30:00  # 30 minutes')).not.toContain('time-format-trap')
  })

  test('minutes and seconds that look like hours are pointed out without a remark', () => {
    expect(codes('--time=12:00')).toContain('time-format-trap')
    expect(codes('--time=12:00:00')).not.toContain('time-format-trap')
  })
})

describe('array jobs', () => {
  test.each<[array: string, tasks: number, concurrent: number]>([
    ['0-3', 4, 4],
    ['0-3%2', 4, 2],
    ['1,3,5-7', 5, 5],
    ['0-10:3', 4, 4],
    ['1,3,5-7:2%4', 4, 4],
    ['0-3,2', 4, 4],
    ['0-3%2,5', 5, 2],
    ['[0-3]%2', 4, 2],
    ['0-3%0', 4, 4],
    ['%2', 1, 1],
    ['0-3:5', 1, 1],
  ])('%s is %s tasks, %s at once', (array, tasks, concurrent) => {
    const role = onlyRole(`--array=${array}`)
    expect([role.tasks, role.concurrentTasks]).toEqual([tasks, concurrent])
  })

  test.each(['3-1', 'a-b', '-1', '0:2', '0-3:0', '0x3'])('%s is refused', array => {
    expect(faults(`--array=${array}`)).toContain('not understood')
  })
})

describe('where an option comes from', () => {
  test('a variable beats a directive, and an option beats both', () => {
    const extra = {
      environment: { SBATCH_PARTITION: 'a100', SBATCH_TIMELIMIT: '7' },
      schedulerArguments: ['-p', 'h100'],
    }
    const role = onlyRole('-p t4 -t 5', extra)
    expect(role.partitions).toEqual([{ value: 'h100', origin: { kind: 'command-line', option: '-p' } }])
    expect(role.timeLimitSeconds).toEqual({ value: 420, origin: { kind: 'environment', variable: 'SBATCH_TIMELIMIT' } })
  })

  test('a directive knows its line and column', () => {
    expect(onlyRole('-t 5\n-c 2 --gres=gpu:2').gpuCount.origin).toEqual({
      kind: 'manifest',
      place: { file: 'job.sbatch', line: 3, column: 14 },
    })
  })

  test('a fault of a variable names the variable', () => {
    expect(faults('-p x', { environment: { SBATCH_TIMELIMIT: 'soon' } })).toContain(
      'environment variable SBATCH_TIMELIMIT',
    )
  })

  test('--wrap is the script, and no directive in it counts', () => {
    const manifest = scriptManifest('', {
      schedulerArguments: ['--wrap', '#SBATCH -G 8\ntorchrun train.py', '-G', '2'],
    })
    const [job] = slurm.read(manifest)
    expect(job?.name).toBe('wrap')
    expect(job?.roles[0]?.gpuCount.value).toBe(2)
    expect(job?.roles[0]?.commandLines.map(line => line.program)).toEqual(['train.py'])
  })

  test('#PBS lines beat directives, below commands too', () => {
    expect(onlyRole('-p a100', {}, 'echo\n#PBS -q t4').partitions.map(each => each.value)).toEqual(['t4'])
  })

  test('a job without a name is called after its file', () => {
    expect(readDirectives('-G1', { name: 'runs/train.sbatch' }).name).toBe('train.sbatch')
  })
})

describe('what --export lets the script see', () => {
  test.each([
    ['ALL,EPOCHS=3', 'm 3'],
    ['EPOCHS=3', ' 3'],
    ['MODEL', 'm '],
    ['NONE', ' '],
    ['ALL', 'm '],
  ])('%s', (value, seen) => {
    const body = 'python train.py "${MODEL-} ${EPOCHS-}"'
    const role = onlyRole(`-t 5 --export=${value}`, { environment: { MODEL: 'm' } }, body)
    expect(role.commandLines[0]?.arguments[0]?.text).toBe(seen)
  })
})

describe('the GPU type', () => {
  test.each<[directives: string, basis: string, names: readonly string[]]>([
    ['--gres=gpu:a100:2', 'directive', ['a100']],
    ['-G h100:2 -p a100', 'directive', ['h100']],
    ['--gpus-per-task=a100:1 -n 2', 'directive', ['a100']],
    ['-G 2 -C "a100|h100"', 'constraint', ['a100', 'h100']],
    ['-G 2 -C "[v100-32g*1&nvlink]"', 'constraint', ['v100-32g']],
    ['-G 2 -C volta32gb', 'constraint', ['volta32gb']],
    ['-G 2 -C "skylake&ib"', 'none', []],
    ['-G 2 -p gpu-a100,cpu', 'partition-hint', ['a100']],
    ['-G 2 -p alpha', 'none', []],
    ['-G 2 -w h100-1', 'partition-hint', ['h100']],
    ['-G 2 -A zzq@a100', 'account-hint', ['a100']],
    ['-G 2 --qos=qos_gpu-a100', 'account-hint', ['a100']],
    ['-G 2   # two L40S', 'comment', ['L40S']],
    ['--gres=mps:l40:2', 'directive', ['l40']],
    ['--gres=gpu:a100:1 -C a100-80gb', 'directive', ['a100-80gb']],
    ['--gres=gpu:a100:1 -C "A100-80"', 'directive', ['A100-80']],
    ['--gres=gpu:a100:1 -C sxm', 'directive', ['a100']],
    ['-G 2 -C "!k80"', 'none', []],
    ['-G 2 -C "a100&!mig"', 'constraint', ['a100']],
    ['-G 2 -C "[M46|M40|M24]"', 'none', []],
    ['-G 2 -C "[gtx1080ti|p100|2080ti]"', 'constraint', ['gtx1080ti', 'p100', '2080ti']],
    ['-G 2 -C "[a6000|6000ada]"', 'constraint', ['a6000', '6000ada']],
    ['-G 2 -p gpuA100x4,gpuA40x4', 'partition-hint', ['A100', 'A40']],
    ['-G 2 -p DGXA100', 'partition-hint', ['A100']],
    ['-G 2 -p a100q', 'partition-hint', ['a100']],
    ['-G 2 -p amd_a100nv_8', 'partition-hint', ['a100']],
    ['-G 2 -p data100', 'none', []],
    ['-G 2 -p volta', 'partition-hint', ['volta']],
    ['--gres=gpu:ampere:2', 'none', []],
    ['--gres=gpu:ampere:2 -C a100', 'constraint', ['a100']],
    ['--gres=gpu:volta:2', 'directive', ['volta']],
  ])('%s is known from a %s', (directives, basis, names) => {
    const { gpuType } = onlyRole(directives)
    expect(gpuType.basis).toBe(basis)
    expect(gpuType.names.map(name => name.value)).toEqual(names)
  })

  test.each<[directives: string, code: WarningCode]>([
    ['-G 2', 'gpu-type-unknown'],
    ['--gres=gpu:hopper:2', 'gpu-type-unknown'],
    ['-G 2 -p gpu-a100', 'gpu-type-hint-only'],
    ['-G 2 -C "a100|h100"', 'gpu-type-ambiguous'],
    ['--gres=gpu:a100_3g.20gb:1', 'fractional-gpu'],
    ['--gres=shard:4', 'fractional-gpu'],
    ['-p gpu -n 4', 'gpu-count-unknown'],
    ['-C gpu -N 2', 'gpu-count-unknown'],
  ])('%s: %s', (directives, code) => {
    expect(codes(directives)).toContain(code)
  })
})

describe('a share of a GPU', () => {
  test.each<[directives: string, share: object | undefined]>([
    ['--gres=gpu:1g.10gb:1', { kind: 'mig', profile: '1g.10gb', share: 1 / 7 }],
    ['-G 1g.10g:1', { kind: 'mig', profile: '1g.10gb', share: 1 / 7 }],
    ['--gres=gpu:a30_2g.12gb:1', { kind: 'mig', profile: '2g.12gb', share: 2 / 4 }],
    [
      '--gres=gpu:a100_1g.5gb:2,gpu:a100_3g.20gb:1',
      { kind: 'mig', profile: '2x 1g.5gb + 1x 3g.20gb', share: (2 / 7 + 3 / 7) / 3 },
    ],
    ['--gres=shard:4', { kind: 'time-slice' }],
    ['--gres=mps:50', { kind: 'fraction' }],
    ['--gres=gpu:a100:1', undefined],
  ])('%s', (directives, share) => {
    expect(onlyRole(directives).deviceShare).toEqual(share)
  })
})

describe('what is warned of', () => {
  test.each<[directives: string, code: WarningCode, body?: string]>([
    ['--exclusive -G1', 'exclusive-whole-node'],
    ['--exclusive --gres=gpu:8', 'exclusive-whole-node'],
    ['--exclusive --gres=gpu:a100:4', 'exclusive-whole-node'],
    ['-N 1-4 -G 4', 'autoscaling-range'],
    ['--account=$PROJECT', 'variable-in-directive'],
    ['-t 5\n-t 10', 'last-flag-wins'],
    ['-J abl#3', 'directive-cut'],
    ['-t 5\n# SBATCH --gres=gpu:4', 'directive-ignored'],
    ['-t 5\n# sbatch --gres=gpu:4', 'directive-ignored'],
    ['-t 5\n#SBARCH --gres=gpu:4', 'directive-ignored'],
    ['-t 5\n#SBTACH -G 4', 'directive-ignored'],
    ['-t 5', 'directive-ignored', 'echo\n#SBATCH -G 8'],
    ['--gres=gpu:4 --gpus-per-node=8', 'conflict'],
    ['-t 5 --requeue', 'retries-multiply-cost'],
    ['-t 5', 'retries-multiply-cost', 'scontrol requeue $SLURM_JOB_ID'],
    ['-t 5', 'retries-multiply-cost', 'next=$(sbatch --parsable --dependency=afterany:$SLURM_JOB_ID "$0")'],
    ['-t 5', 'retries-multiply-cost', 'sbatch --dependency=afterany:$SLURM_JOB_ID job.sbatch'],
    ['-t 5', 'child-jobs', 'id=$(sbatch --parsable next.sbatch)'],
    ['-n 1', 'child-jobs', 'snakemake --executor slurm --jobs 40'],
    ['-n 1', 'child-jobs', 'nextflow run main.nf -profile slurm,apptainer'],
    ['-n 1', 'child-jobs', 'python run_with_submitit.py --nodes 8 --ngpus 8'],
    ['-n 1', 'child-jobs', 'python train.py -m seed=1,2 hydra/launcher=submitit_slurm'],
    ['', 'no-directives'],
    ['--exclusive', 'gpu-count-unknown'],
    ['-N2 -t 5', 'gpu-count-inferred', 'srun torchrun --nnodes=2 --nproc_per_node=4 train.py'],
  ])('%s: %s', (directives, code, body) => {
    expect(codes(directives, body)).toContain(code)
  })

  test.each<[directives: string, code: WarningCode, body?: string]>([
    ['--exclusive=user -G1', 'exclusive-whole-node'],
    ['--exclusive --gres=gpu:h100:8', 'exclusive-whole-node'],
    ['-p cpu -n 4', 'gpu-count-unknown'],
    ['-p gpu --gres=gpu:0', 'gpu-count-unknown'],
    ['-t 5\n##SBATCH -G 4', 'directive-ignored'],
    ['-t 5\n# sbatch --nodes=2 train.slurm large', 'directive-ignored'],
    ['-t 5', 'retries-multiply-cost', 'sbatch next.sbatch'],
    ['-t 5', 'retries-multiply-cost', 'if [ -z $SLURM_JOB_ID ]; then\n  sbatch "$0"\n  exit\nfi\npython train.py'],
    ['-t 5', 'child-jobs', 'if [[ -z "${SLURM_JOB_ID}" ]]; then\n  sbatch "$0"\n  exit\nfi\npython train.py'],
    ['-t 5\n#SEARCH -x for the best of them', 'directive-ignored'],
    ['-t 5', 'directive-ignored', 'cat <<EOF > next.sbatch\n#SBATCH -G 8\nEOF'],
    ['-t 5', 'directive-ignored', ": '\n#SBATCH -G 8\n'\npython train.py"],
    ['--gres=gpu:4 --gpus-per-node=4', 'conflict'],
    ['-t 5', 'child-jobs', 'echo "usage: sbatch file"'],
    ['-G 1', 'child-jobs', 'snakemake --cores 8'],
    ['-G 1', 'child-jobs', 'nextflow run main.nf -profile apptainer'],
    ['-t 5\n-J x # comment', 'directive-ignored'],
  ])('%s: not %s', (directives, code, body) => {
    expect(codes(directives, body)).not.toContain(code)
  })

  test('GPUs of a launcher are counted only where nothing asks for any', () => {
    const body = 'torchrun --nproc_per_node=4 train.py'
    expect(onlyRole('-N2 -t 5', {}, body).gpuCount.value).toBe(8)
    expect(onlyRole('-N2 -t 5 --gres=gpu:0', {}, body).gpuCount.value).toBe(0)
    expect(onlyRole('-N2 -t 5 -G 2', {}, body).gpuCount.value).toBe(2)
  })
})

describe('what sbatch refuses', () => {
  test.each<[directives: string, words: string]>([
    ['--mem=1G --mem-per-cpu=1G', 'exclude each other'],
    ['--gpus-per-task=2', 'needs --ntasks or --gpus'],
    ['-N2 -G 1', 'fewer GPUs than the 2 nodes'],
    ['--gpus=6 --gpus-per-node=4', 'no multiple of the 4 GPUs of a node'],
    ['--gres=gpu:4 --gpus=2', 'fewer GPUs in all'],
    ['-G 2,a100:2', 'with and without a type'],
    ['--gres=gpu:a100:2 -G 4', 'with and without a type'],
    ['--ntasks-per-gpu=2 -n 7', 'multiple'],
    ['--mem-per-gpu=3G', 'no GPU is asked for'],
    ['--gpus-per-socket=2', 'needs --sockets-per-node'],
    ['-w a[1-3] -N 1', 'fewer than the 3 nodes'],
    ['--partition = a100', 'no option'],
    ['--nodes 2 --foo=1', 'unknown option --foo'],
    ['--gpu=2', 'several options begin so'],
    ['-t 5 some words', 'some: a word that is no option'],
    ['--hold=now', 'takes no value'],
    ['-N 3-1', 'expected a number of nodes'],
    ['-n 0', 'above 0'],
  ])('%s', (directives, words) => {
    expect(faults(directives)).toContain(words)
  })

  test('options of later versions and of the container plugin are known by their full names', () => {
    expect(
      onlyRole('--segment=2 --oom-kill-step=1 --container-image=x.sqsh --no-container-mount-home --image=a/b:1 -G1')
        .gpuCount.value,
    ).toBe(1)
    expect(faults('--segm=2')).toContain('unknown option --segm')
  })
})

describe('heterogeneous jobs', () => {
  test('each component has its own GPUs, and the time limit is handed on', () => {
    const job = readDirectives('-p a100 -G1 -t 60 --mem-per-cpu=1G\nhetjob\n-p t4 -N2 --gpus-per-node=4')
    expect(job.roles.map(role => [role.name, role.gpuCount.value, role.timeLimitSeconds?.value])).toEqual([
      ['het-0', 1, 3600],
      ['het-1', 8, 3600],
    ])
    expect(job.roles[1]?.memoryBytesPerReplica).toBeUndefined()
    expect(job.destination).toEqual({ partition: 'a100 + t4' })
  })

  test('what stands on the line of hetjob is lost, and said to be', () => {
    const job = readDirectives('-G1\nhetjob -G 4')
    expect(job.roles[1]?.gpuCount.value).toBe(0)
    expect(job.warnings.map(warning => warning.code)).toContain('directive-ignored')
  })

  test('programs go to the component that srun names', () => {
    const body = 'srun --het-group=0 python serve.py &\nsrun --het-group=1 python train.py'
    const job = readDirectives('-G1\nhetjob\n-G2', {}, body)
    expect(job.roles.map(role => role.commandLines.map(line => line.program))).toEqual([['serve.py'], ['train.py']])
  })

  test('an array cannot be one', () => {
    expect(faults('-G1 --array=0-3\nhetjob\n-G2')).toContain('heterogeneous')
  })
})

describe('scripts that submit scripts', () => {
  const grid = (request: string): string =>
    `#!/bin/bash\nfor lr in 1e-3 1e-4 1e-5; do\nsbatch -J run-$lr <<EOF\n#!/bin/bash\n#SBATCH ${request} -t 60\npython train.py --lr $lr\nEOF\ndone\n`

  test('jobs that ask for the same are tasks of one role', () => {
    const [job] = slurm.read(scriptManifest(grid('--gres=gpu:a100:2')))
    expect(job?.roles.map(role => [role.name, role.gpuCount.value, role.tasks])).toEqual([['child-job', 2, 3]])
    expect(job?.warnings.map(warning => warning.code)).toContain('child-jobs')
  })

  const submitting = (...lines: readonly string[]): string => ['#!/bin/bash', ...lines, ''].join('\n')
  const train =
    '#!/bin/bash\n#SBATCH --gres=gpu:a100:4 -t 120\npython train.py --seed $1 --epochs 30 --batch-size $BATCH\n'

  test('the command of --wrap is what runs', () => {
    const text = submitting(
      'for seed in 1 2 3; do',
      '  sbatch --gres=gpu:l4:1 -t 4:00:00 -o "$LOGS/%j" --wrap="python train.py --seed $seed --epochs 30"',
      'done',
    )
    const [job] = slurm.read(scriptManifest(text))
    const [role, ...others] = job?.roles ?? []
    expect(others).toEqual([])
    expect([role?.gpuCount.value, role?.tasks, role?.concurrentTasks, role?.timeLimitSeconds?.value]).toEqual([
      1, 3, 3, 14_400,
    ])
    expect(role?.commandLines[0]?.arguments.map(word => word.text)).toEqual(['--seed', undefined, '--epochs', '30'])
  })

  test('a script beside it is read with the options, arguments and variables that it is given', () => {
    const text = submitting('for seed in 1 2; do', '  BATCH=64 sbatch --time=60 jobs/train.sbatch $seed', 'done')
    const [before] = slurm.read(scriptManifest(text))
    expect(before?.sources).toEqual(['jobs/train.sbatch'])
    const sourcedFiles = new Map([['jobs/train.sbatch', train]])
    const [job] = slurm.read(scriptManifest(text, { sourcedFiles }))
    const [role] = job?.roles ?? []
    expect([role?.gpuCount.value, role?.tasks, role?.timeLimitSeconds?.value]).toEqual([4, 2, 3_600])
    const words = role?.commandLines[0]?.arguments.map(word => word.text)
    expect(words).toEqual(['--seed', undefined, '--epochs', '30', '--batch-size', '64'])
  })

  test('what waits for another job does not run beside it', () => {
    const text = submitting(
      'id=$(sbatch --parsable -G 8 --wrap="python a.py")',
      'sbatch -d afterok:$id -G 8 --wrap="python b.py"',
    )
    const [role] = slurm.read(scriptManifest(text))[0]?.roles ?? []
    expect([role?.tasks, role?.concurrentTasks]).toEqual([2, 1])
  })

  test('a chain of jobs holds what its largest does, and each link is counted', () => {
    const text = submitting(
      'prep=$(sbatch --parsable -n 4 -t 60 --wrap="python prepare.py")',
      'for seed in 1 2; do',
      '  sbatch -d afterok:$prep -G 4 -t 60 --wrap="python train.py --seed $seed"',
      'done',
      'last=""',
      'for part in a b c; do',
      '  last=$(sbatch --parsable --dependency=afterok:$last -G 1 -t 60 --wrap="python refine.py $part")',
      'done',
    )
    const [job] = slurm.read(scriptManifest(text))
    expect(job?.roles.map(role => [role.gpuCount.value, role.tasks, role.concurrentTasks])).toEqual([
      [0, 1, 1],
      [4, 2, 2],
      [1, 3, 1],
    ])
    const turns = job?.turns?.together.map(set => set.map(({ role, tasks }) => `${role} x ${tasks}`))
    const single = 'child-job-2 x 1'
    expect(turns).toEqual([['child-job-0 x 1'], ['child-job-1 x 2'], [single], [single], [single]])
  })

  test('of several ways one is taken', () => {
    const text = submitting(
      'if [ -f last.ckpt ]; then',
      '  sbatch -G 1 --wrap="python train.py --resume"',
      'else',
      '  sbatch -G 1 --wrap="python train.py"',
      'fi',
    )
    expect(slurm.read(scriptManifest(text))[0]?.roles.map(role => role.tasks)).toEqual([1])
  })

  test.each([
    ['a script that is not there', 'sbatch train.sbatch'],
    ['a request that is not known', 'sbatch --gres=gpu:$N --wrap="python train.py"'],
    ['itself', 'sbatch -G 1 job.sbatch'],
  ])('%s is not counted, and said not to be', (_, line) => {
    const [job] = slurm.read(scriptManifest(submitting(line, line)))
    expect(job?.roles.map(role => [role.name, role.gpuCount.value])).toEqual([['job', 0]])
    expect(job?.warnings).toContainEqual(
      expect.objectContaining({ code: 'child-jobs', text: expect.stringContaining('2 other jobs') }),
    )
  })

  test('a fault in a script that is written names that script', () => {
    expect(() => slurm.read(scriptManifest(grid('--gres=gpu:a100:x')))).toThrow(/script of job.sbatch:3:2.*gpu:a100:x/)
  })
})

describe('#GPUFARE lines', () => {
  test('stand anywhere in the leading comment block, one key a line', () => {
    const job = readDirectives(
      '#GPUFARE model=llama-2-7b\n-G1\n# GPUFARE tokens=3B\n\n#GPUFARE epochs=3',
      {},
      'echo\n#GPUFARE epochs=9',
    )
    expect(job.declarations.model?.value).toBe('llama-2-7b')
    expect(job.declarations.epochs).toEqual({
      value: 3,
      origin: { kind: 'annotation', place: { file: 'job.sbatch', line: 6, column: 10 } },
    })
  })

  test('an unknown key is a fault beside those of the directives', () => {
    const message = faults('#GPUFARE epoch=3\n-t soon')
    expect(message).toContain(':2:')
    expect(message).toContain(':3:')
  })
})

describe('what sbatch takes otherwise than it looks', () => {
  const texts = (directives: string, extra: Extra = {}) =>
    readDirectives(directives, extra).warnings.map(({ code, text, place }) => `${code} ${place?.line}: ${text}`)

  test('an option of a further component replaces none of the first', () => {
    const said = texts('-t 10:00:00\n--gres=gpu:1\nhetjob\n-t 4:00:00\n--gres=gpu:2')
    expect(said.filter(text => text.startsWith('last-flag-wins'))).toEqual([])
    expect(texts('-t 10:00:00\nhetjob\n-t 4:00:00\n-t 5:00:00')).toContain(
      'last-flag-wins 5: -t 5:00:00 stands after -t 4:00:00 (line 4) and replaces it',
    )
  })

  test('a key that #GPUFARE lines give twice is named, unless both say the same', () => {
    expect(texts('#GPUFARE epochs=3\n--gres=gpu:1\n#GPUFARE epochs=30')).toContain(
      'last-flag-wins 4: #GPUFARE epochs=30 stands after epochs=3 (line 2) and replaces it',
    )
    expect(texts('#GPUFARE epochs=3\n#GPUFARE epochs=3').join()).not.toContain('last-flag-wins')
  })

  test.each([
    ['select=1:ncpus=8:ngpus=4', 'ngpus=4'],
    ['select=2:ngpus=8,walltime=10:00:00', 'ngpus=8'],
    ['ngpus=2', 'ngpus=2'],
  ])('#PBS -l %s asks sbatch for no GPU, and it is said', (list, word) => {
    const job = readDirectives(`#PBS -l ${list}`)
    expect(job.roles[0]?.gpuCount.value).toBe(0)
    expect(texts(`#PBS -l ${list}`).join()).toContain(`directive-ignored 2: ${word} of `)
  })

  test('#PBS -l nodes=1:gpus=4 does ask for them', () => {
    expect(onlyRole('#PBS -l nodes=1:gpus=4').gpuCount.value).toBe(4)
    expect(texts('#PBS -l nodes=1:gpus=4').join()).not.toContain('directive-ignored')
  })

  test.each(['--gres=gpu:a100:99999999999999999999', '-G 2147483648', '--gpus-per-node=a100:4g'])(
    '%s is more than Slurm can count, and is refused',
    option => {
      expect(faults(option)).toMatch(/job\.sbatch:2:\d+ {2}.*more than 2147483647/)
    },
  )

  // What sbatch 22.05 said to each.
  test.each([
    ['2035-01-20T12:34', true],
    ['2035-01-20T12:34:00', true],
    ['2035-01-20T12:34:00--', true],
    ['2035-01-20T12:34:00x', false],
    ['2035-01-20T12:34y', false],
    ['2035-01-20T12:34:00:1', false],
    ['2035-01-20T12:34:00+5', false],
    ['2035-01-20T12:34:00\u00a0--exclusive', false],
  ])('--begin=%s is taken: %s', (moment, isTaken) => {
    const read = () => slurm.read(scriptManifest(`#!/bin/bash\n#SBATCH --begin=${moment} --gres=gpu:1\nhostname\n`))
    if (isTaken) expect(read()).toHaveLength(1)
    else expect(read).toThrow(`--begin=${moment.slice(0, 16)}`)
  })

  test('a byte order mark before #! is named', () => {
    const text = '#!/bin/bash\n#SBATCH --gres=gpu:1\npython train.py\n'
    const manifest = scriptManifest(text)
    const marked = { ...manifest, bytes: new TextEncoder().encode(`\ufeff${text}`) }
    const refusals = (each: typeof manifest) =>
      slurm.read(each).flatMap(job => job.warnings.filter(({ code }) => code === 'scheduler-will-refuse'))
    expect(refusals(marked)).toMatchObject([{ text: expect.stringContaining('byte order mark'), place: { line: 1 } }])
    expect(refusals(manifest)).toEqual([])
  })
})

test('a script whose directives are still to be filled in names its placeholders', () => {
  expect(faults('#SBATCH --nodes={{ nodes }}\n#SBATCH --time=<%= hours %>:00:00')).toContain(
    'an unrendered template: {{ nodes }} (line 2), <%= hours %> (line 3)',
  )
  expect(faults('#SBATCH --nodes=x{{ nodes }}y')).not.toContain('--nodes=')
  expect(faults('#SBATCH --nodes=many\n# {{ a note }}')).toContain('--nodes=many')
})

test('an option as long as a book is named by its beginning', () => {
  const said = faults(`#SBATCH --j${'$a'.repeat(50_000)}`)
  expect(said).toContain('unknown option --j$a$a')
  expect(said.length).toBeLessThan(2_200)
})
