import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GpufareError } from '../src/errors.ts'
import { forgetLearnt, keepLearnt, readLearnt } from '../src/learnt.ts'
import type { LearntRun } from '../src/runtimes/corrections.ts'
import { makeFolder } from './folders.ts'

function runOf(key: string, more: Partial<LearntRun> = {}): LearntRun {
  return {
    key,
    fingerprint: 'f1',
    gpus: '8x A100-80GB',
    name: 'train-1.sbatch',
    id: '7',
    at: '2026-11-30T12:00:00.000Z',
    estimatedSeconds: 3_600,
    seconds: 7_200,
    ...more,
  }
}

const other = runOf('c', { fingerprint: 'f2', name: 'evaluate.sbatch' })
const later = '2026-11-30T13:00:00.000Z'

function fileWith(...runs: readonly LearntRun[]): string {
  const path = join(makeFolder(), 'gpufare/learnt.jsonl')
  keepLearnt(path, runs)
  return path
}

test('runs are read as they were kept, each once, and of a file that is not there none', () => {
  const stopped = runOf('b', { isStopped: true })
  const path = fileWith(runOf('a'), stopped, runOf('a'))
  expect(readLearnt(path).runs).toEqual([runOf('a'), stopped])
  expect(readLearnt(join(makeFolder(), 'none')).runs).toEqual([])
})

test('broken lines and those of a later schema are passed over, and so are keys of a later version', () => {
  const path = fileWith(runOf('a'))
  appendFileSync(path, `nonsense\n${JSON.stringify({ schemaVersion: 2, ...runOf('b') })}\n`)
  appendFileSync(path, `${JSON.stringify({ schemaVersion: 1, ...runOf('c'), carbonGrams: 3 })}\n{"schemaVersion":1,`)
  keepLearnt(path, [runOf('d')])
  expect(readLearnt(path).runs).toEqual([runOf('a'), runOf('c'), runOf('d')])
})

test.each([
  ['by a name, digits aside', 'train-2.sbatch', 2, [other]],
  ['by a fingerprint', 'f2', 1, [runOf('a'), runOf('b')]],
  ['all of them', undefined, 3, []],
  ['none of a name that nobody knows', 'nobody', 0, [runOf('a'), runOf('b'), other]],
])('runs are forgotten %s, and not learnt again', (_, wanted, count, left) => {
  const path = fileWith(runOf('a'), runOf('b'), other)
  expect(forgetLearnt(path, wanted, later)).toBe(count)
  expect(forgetLearnt(path, wanted, later)).toBe(0)
  const learnt = readLearnt(path)
  expect(learnt.runs).toEqual(left)
  expect([runOf('a'), runOf('b'), other].every(run => learnt.knows(run))).toBe(true)
  // What is quoted afterwards counts again.
  const next = runOf('n', { at: '2026-11-30T14:00:00.000Z' })
  expect(learnt.knows(next)).toBe(false)
  keepLearnt(path, [next])
  expect(readLearnt(path).runs).toEqual([...left, next])
})

test('a run that is forgotten before it is learnt does not count', () => {
  const path = fileWith(runOf('a'))
  forgetLearnt(path, 'f1', later)
  expect(readLearnt(path).knows(runOf('late'))).toBe(true)
  expect(readLearnt(path).knows(other)).toBe(false)
})

test('what cannot be read or written is said', () => {
  const file = join(makeFolder(), 'gpufare')
  writeFileSync(file, '')
  const path = join(file, 'learnt.jsonl')
  expect(() => readLearnt(path)).toThrow(GpufareError)
  expect(() => keepLearnt(path, [other])).toThrow(/ENOTDIR|EEXIST/)
  expect(() => forgetLearnt(path, undefined, later)).toThrow(GpufareError)
})
