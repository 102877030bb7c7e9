import { describe, expect, test } from 'vitest'
import { GpufareError } from '../../src/errors.ts'
import type { Retarget } from '../../src/manifests/manifest-format.ts'
import { slurm } from '../../src/manifests/slurm/index.ts'
import { scriptManifest } from './script-manifest.ts'

type Extra = Parameters<typeof scriptManifest>[1]

function retarget(script: string, target: Retarget, extra: Extra = {}): string {
  return slurm.retarget(scriptManifest(script, extra), target)
}

/** The lines that differ, as `- old` and `+ new`. */
function changes(script: string, target: Retarget): readonly string[] {
  const [before, after] = [script.split('\n'), retarget(script, target).split('\n')]
  return [
    ...before.filter(line => !after.includes(line)).map(line => `- ${line}`),
    ...after.filter(line => !before.includes(line)).map(line => `+ ${line}`),
  ]
}

function why(script: string, target: Retarget, extra: Extra = {}): string {
  try {
    return retarget(script, target, extra)
  } catch (error) {
    if (error instanceof GpufareError) return error.message
    throw error
  }
}

const script = (...directives: string[]): string =>
  ['#!/bin/bash', ...directives.map(line => `#SBATCH ${line}`), '', 'srun python train.py  # unchanged', ''].join('\n')
const eightT4: Retarget = { replicas: 1, gpusPerReplica: 8, gresType: 't4', partition: 't4' }

describe('a script that asks for other GPUs', () => {
  test.each<[name: string, directives: readonly string[], target: Retarget, changed: readonly string[]]>([
    [
      'keeps its remarks and its spacing',
      ['--gres=gpu:a100:8    # all of them', '-p a100   -t 60'],
      eightT4,
      [
        '- #SBATCH --gres=gpu:a100:8    # all of them',
        '- #SBATCH -p a100   -t 60',
        '+ #SBATCH --gres=gpu:t4:8    # all of them',
        '+ #SBATCH -p t4   -t 60',
      ],
    ],
    [
      'has the number of one node',
      ['--gpus-per-node=a100:4'],
      { replicas: 1, gpusPerReplica: 2, gresType: 'h100' },
      ['- #SBATCH --gpus-per-node=a100:4', '+ #SBATCH --gpus-per-node=h100:2'],
    ],
    [
      'has the number of all nodes',
      ['-N 2 -G 8'],
      { replicas: 1, gpusPerReplica: 4 },
      ['- #SBATCH -N 2 -G 8', '+ #SBATCH -N 1 -G 4'],
    ],
    [
      'has tasks that follow the GPUs',
      ['-N2 -n8 --gpus-per-task=1'],
      { replicas: 1, gpusPerReplica: 4 },
      ['- #SBATCH -N2 -n8 --gpus-per-task=1', '+ #SBATCH -N1 -n4 --gpus-per-task=1'],
    ],
    [
      'has tasks of a node that follow',
      ['--nodes=4 --ntasks-per-node=8 --gres=gpu:8'],
      { replicas: 8, gpusPerReplica: 4 },
      ['- #SBATCH --nodes=4 --ntasks-per-node=8 --gres=gpu:8', '+ #SBATCH --nodes=8 --ntasks-per-node=4 --gres=gpu:4'],
    ],
    [
      'keeps what is no GPU',
      ['--gres=gpu:a100:2,nvme:100'],
      { replicas: 1, gpusPerReplica: 1 },
      ['- #SBATCH --gres=gpu:a100:2,nvme:100', '+ #SBATCH --gres=gpu:1,nvme:100'],
    ],
    [
      'loses a constraint that names the old type',
      ['-G 2', '--constraint=a100'],
      { replicas: 1, gpusPerReplica: 2, gresType: 'h100' },
      ['- #SBATCH -G 2', '- #SBATCH --constraint=a100', '+ #SBATCH -G h100:2'],
    ],
    [
      'gets a line for what it did not say',
      ['-t 60'],
      { replicas: 2, gpusPerReplica: 4, partition: 'l40s' },
      ['+ #SBATCH --gres=gpu:4', '+ #SBATCH --partition=l40s', '+ #SBATCH --nodes=2'],
    ],
    [
      'changes a value on the next line',
      ['--gres', 'gpu:2'],
      { replicas: 1, gpusPerReplica: 4 },
      ['- #SBATCH gpu:2', '+ #SBATCH gpu:4'],
    ],
    [
      'changes the one that counts of two',
      ['--gres=gpu:2', '--gres=gpu:3'],
      { replicas: 1, gpusPerReplica: 4 },
      ['- #SBATCH --gres=gpu:3', '+ #SBATCH --gres=gpu:4'],
    ],
  ])('%s', (_name, directives, target, changed) => {
    expect(changes(script(...directives), target)).toEqual(changed)
  })

  test('that it asks for already, stays byte for byte', () => {
    const text = script("--gres='gpu:t4:8'", '-pt4')
    expect(retarget(text, eightT4)).toBe(text)
  })

  test('keeps Windows line ends', () => {
    const text = script('-t 60').replaceAll('\n', '\r\n')
    expect(retarget(text, { replicas: 1, gpusPerReplica: 1 })).toBe(
      text.replace('60\r\n', '60\r\n#SBATCH --gres=gpu:1\r\n'),
    )
  })

  test('is read back as what was wanted', () => {
    const text = retarget(script('-N 1-4 --gres=gpu:a100:8 -c 8'), {
      replicas: 3,
      gpusPerReplica: 4,
      gresType: 'l40s',
      partition: 'l',
    })
    const [role] = slurm.read(scriptManifest(text))[0]?.roles ?? []
    expect([role?.replicas.value, role?.gpuCount.value, role?.cpusPerReplica?.value]).toEqual([3, 12, 8])
    expect(role?.gpuType.names.map(name => name.value)).toEqual(['l40s'])
  })
})

describe('what cannot be changed safely', () => {
  test.each<[directives: readonly string[], extra: Extra, words: string]>([
    [['-G 2', 'hetjob', '-G 4'], {}, 'heterogeneous'],
    [['-p x'], { environment: { SBATCH_GRES: 'gpu:2' } }, 'SBATCH_GRES=gpu:2 comes from the environment'],
    [['-G 2'], { schedulerArguments: ['-G', '4'] }, '-G 4 comes from the command line'],
    [['-G 2 -w a100-1'], {}, 'names the nodes'],
    [['-G 2 -C "a100&nvlink"'], {}, 'among other features'],
    [['-G 2', '#PBS -q t4'], { environment: {} }, 'stands in a line for another scheduler'],
    [['--gpus-per-socket=2 --sockets-per-node=2'], {}, 'sockets'],
    [['-HG2'], {}, 'several options in one word'],
  ])('%s', (directives, extra, words) => {
    const text = script(...directives).replace('#SBATCH #PBS', '#PBS')
    expect(why(text, { replicas: 1, gpusPerReplica: 8, partition: 'p', gresType: 't4' }, extra)).toContain(words)
  })

  test.each(['sbatch -G 2 --wrap="python train.py"', 'id=$(sbatch --parsable train.sbatch)'])('%s', line => {
    const text = `#!/bin/bash\n${line}\n`
    expect(why(text, { replicas: 1, gpusPerReplica: 8, gresType: 't4' })).toContain('the jobs that it submits')
  })
})
