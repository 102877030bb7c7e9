import { describe, expect, it } from 'vitest'
import { manifestOf } from '../../src/manifest.ts'
import { outputPatterns } from '../../src/manifests/slurm/output-files.ts'

function fits(directives: string, path: string): boolean {
  const text = `#!/bin/bash\n${directives}\npython train.py\n`
  const names = path.split('/')
  return outputPatterns(manifestOf('jobs/train.sbatch', new TextEncoder().encode(text))).some(
    ({ parts }) =>
      parts.length === names.length &&
      parts.every((part, index) => (typeof part === 'string' ? part === names[index] : part.test(names[index] ?? ''))),
  )
}

describe('files that sbatch writes output to (sbatch(1), filename pattern)', () => {
  it.each([
    ['', 'slurm-4711.out', true],
    ['', 'slurm-4711_3.out', false],
    ['', 'slurm-.out', false],
    ['#SBATCH --array=0-3', 'slurm-4711_3.out', true],
    ['#SBATCH -o logs/%x-%j.out\n#SBATCH -J tune', 'logs/tune-12.out', true],
    ['#SBATCH -o logs/%x-%j.out\n#SBATCH -J tune', 'logs/other-12.out', false],
    ['#SBATCH --output=%x_%4j.log', 'train.sbatch_0012.log', true],
    ['#SBATCH --output=%A/%a/out.txt', '99/7/out.txt', true],
    ['#SBATCH --output=%A/%a/out.txt', 'a/7/out.txt', false],
    ['#SBATCH --output=100%%-%j', '100%-5', true],
    ['#SBATCH --output=a.b-%j', 'aXb-5', false],
    ['#SBATCH --output=%j.out\n#SBATCH --error=%j.err', '5.err', true],
    ['#SBATCH --output=fixed.log', 'fixed.log', true],
    ['#SBATCH --output=%u-%N.%j', 'anna-node01.cluster.7', true],
    ['#SBATCH --output=/dev/null', 'slurm-1.out', false],
    [`#SBATCH --output=${'['.repeat(20_000)}%j`, `${'['.repeat(20_000)}1`, false],
    [`#SBATCH -J ${'$('.repeat(50_000)}\n#SBATCH -o %x-%j.out`, `${'$('.repeat(50_000)}-1.out`, false],
  ])('%j: %s %s', (directives, path, expected) => {
    expect(fits(directives, path)).toBe(expected)
  })

  it('take their place from --chdir, and the default where nothing is said', () => {
    const text = '#!/bin/bash\n#SBATCH --chdir=runs\ntrue\n'
    const [pattern, ...others] = outputPatterns(manifestOf('a.sbatch', new TextEncoder().encode(text)))
    expect(others).toEqual([])
    expect(pattern).toMatchObject({ written: 'slurm-%j.out', folder: 'runs' })
  })
})
