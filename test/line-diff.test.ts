import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines } from '../src/line-diff.ts'

const script = `#!/bin/bash
#SBATCH --job-name=llama
#SBATCH --partition=a100
# eight of them
#SBATCH --gres=gpu:a100:8
#SBATCH --time=4:00:00

srun torchrun train.py
echo one
echo two
echo three
echo four
echo --gres
`

test('a change is shown with the lines around it', () => {
  const changed = script.replace('=a100', '=l40s').replace('gpu:a100:8', 'gpu:l40s:8')
  expect(diffLines(script, changed)).toEqual([
    '@@ -1,8 +1,8 @@',
    ' #!/bin/bash',
    ' #SBATCH --job-name=llama',
    '-#SBATCH --partition=a100',
    '+#SBATCH --partition=l40s',
    ' # eight of them',
    '-#SBATCH --gres=gpu:a100:8',
    '+#SBATCH --gres=gpu:l40s:8',
    ' #SBATCH --time=4:00:00',
    ' ',
    ' srun torchrun train.py',
  ])
})

test('changes far apart have a place each', () => {
  const changed = script.replace('#!/bin/bash', '#!/bin/sh').replace('echo --gres\n', '')
  expect(diffLines(script, changed).filter(line => line.startsWith('@@'))).toEqual([
    '@@ -1,4 +1,4 @@',
    '@@ -10,4 +10,3 @@',
  ])
})

test('equal texts have no difference', () => {
  expect(diffLines(script, script)).toEqual([])
})

test('ten thousand lines that all differ are compared', () => {
  const text = (word: string) => Array.from({ length: 10_000 }, (_, index) => `${word} ${index}`).join('\n')
  expect(diffLines(text('old'), text('new'))).toHaveLength(20_003) // with the head and twice that no line break follows
})

test('a last line without a line break is told from one with it', () => {
  expect(diffLines('srun train', 'srun train\n')).toEqual([
    '@@ -1,1 +1,1 @@',
    '-srun train',
    '\\ No newline at end of file',
    '+srun train',
  ])
})

test('whoever applies the change to the old text has the new one, and what is kept stands in both', () => {
  const text = fc
    .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', '#SBATCH -p x\n', '--- y\n'), { maxLength: 30 })
    .chain(lines => fc.constantFrom('', 'no line break').map(end => lines.join('') + end))
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(applyTo(before, diffLines(before, after))).toBe(after)
    }),
    { numRuns: 1000 },
  )
})

/** What patch(1) does, without its tolerance: every kept or removed line must stand where the hunk says. */
function applyTo(text: string, diff: readonly string[]): string {
  const old = text.split(/(?<=\n)/)
  const made: string[] = []
  let at = 0
  for (const [index, line] of diff.entries()) {
    const hunk = /^@@ -(\d+),(\d+) \+(\d+),\d+ @@$/.exec(line)
    if (hunk !== null) {
      const first = Number(hunk[1]) - 1
      made.push(...old.slice(at, first))
      at = first
      expect(Number(hunk[3])).toBe(made.length + 1)
    } else if (!line.startsWith('\\')) {
      const whole = line.slice(1) + (diff[index + 1]?.startsWith('\\') === true ? '' : '\n')
      if (line[0] !== '+') expect(old[at++]).toBe(whole)
      if (line[0] !== '-') made.push(whole)
    }
  }
  return [...made, ...old.slice(at)].join('')
}
