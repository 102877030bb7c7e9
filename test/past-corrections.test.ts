import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forgetLearnt, keepLearnt } from '../src/learnt.ts'
import { correctionsIn } from '../src/past-corrections.ts'
import type { LearntRun } from '../src/runtimes/corrections.ts'
import { fingerprintOf } from '../src/runtimes/fingerprint.ts'
import type { RangedRuntime } from '../src/runtimes/runtime-model.ts'
import { sourced } from '../src/sourced.ts'
import { candidateOf, gpuOf, jobOf, machineOf, placementOf } from './builders.ts'
import { makeFolder } from './folders.ts'

function runOf(fingerprint: string): LearntRun {
  return {
    key: fingerprint,
    fingerprint,
    gpus: '8x A100-80GB',
    name: 'train.sbatch',
    id: '7',
    at: '2026-11-30T12:00:00.000Z',
    estimatedSeconds: 3_600,
    seconds: 7_200,
  }
}

test('a quote looks through the end of a long file, and none is stopped by one that cannot be read', () => {
  const declared = { seconds: 3_600 }
  const job = jobOf({
    name: 'train.sbatch',
    declarations: { runtime: sourced(declared, { kind: 'annotation', place: { file: 'train.sbatch' } }) },
  })
  const own = runOf(fingerprintOf(job, [], 'declared') ?? '')
  const factorIn = (path: string) => {
    const estimate: RangedRuntime = { basis: 'declared', seconds: { p10: 3_000, p50: 3_600, p90: 4_200 }, working: [] }
    const candidate = candidateOf(placementOf(machineOf(gpuOf('A'), 8), 8))
    return correctionsIn(path)?.correct(estimate, job, [], candidate).correction?.factor
  }
  const fill = (path: string) =>
    appendFileSync(path, `${JSON.stringify({ schemaVersion: 1, ...runOf('another') })}\n`.repeat(2_000))
  const path = join(makeFolder(), 'learnt.jsonl')
  keepLearnt(path, [own])
  expect(factorIn(path)).toBeCloseTo(Math.SQRT2, 9)
  fill(path)
  expect(factorIn(path)).toBeUndefined()
  keepLearnt(path, [own])
  expect(factorIn(path)).toBeCloseTo(Math.SQRT2, 9)
  forgetLearnt(path, undefined, '2026-11-30T13:00:00.000Z')
  expect(factorIn(path)).toBeUndefined()
  const folder = join(makeFolder(), 'learnt.jsonl')
  mkdirSync(folder)
  expect(factorIn(folder)).toBeUndefined()
  const empty = join(makeFolder(), 'learnt.jsonl')
  writeFileSync(empty, '')
  expect(factorIn(empty)).toBeUndefined()
})
