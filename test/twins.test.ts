import { describe, expect, test } from 'vitest'
import { emptyConfig } from '../src/config.ts'
import { type Twin, TwinMemory, twinOf } from '../src/twins.ts'

const job = (name: string, rest = '') => `kind: Job\nmetadata:\n  name: ${name}\n  labels: {app: x}\n${rest}`

describe('a twin', () => {
  test('is told by its text without the number of its job', () => {
    const twins = [twinOf(job('sweep-1'), 'a.yaml'), twinOf(job('sweep-22'), 'b.yaml')]
    expect(twins.map(twin => twin?.name)).toEqual(['sweep-1', 'sweep-22'])
    expect(twins[0]?.text).toBe(twins[1]?.text)
    expect(twinOf(job('other-1'), 'c.yaml')?.text).not.toBe(twins[0]?.text)
    expect(twinOf('#!/bin/bash\n#SBATCH --job-name=sweep-7\npython train.py\n', 'd.sbatch')?.name).toBe('sweep-7')
  })

  test.each([
    ['its name stands in other places, too', job('sweep-1', 'args: [--run=sweep-1]')],
    ['its name has no number', job('sweep')],
    ['its name is a number', job('17')],
  ])('is none where %s', (_, text) => {
    expect(twinOf(text, 'a.yaml')).toBeUndefined()
  })
})

describe('twins', () => {
  const twin = (number: number): Twin => ({ text: 'same', name: `sweep-${number}`, file: `jobs/sweep-${number}.yaml` })
  const outcome = (number: number, cost = 5) => ({
    name: `sweep-${number}`,
    place: { file: `jobs/sweep-${number}.yaml`, line: 3 },
    text: `jobs/sweep-${number}.yaml:3: sweep-${number} is dear`,
    candidates: [{ gpus: '8x A100', cost }],
    absent: undefined,
  })

  test('have the outcome of the first, once the second has proven it', () => {
    const memory = new TwinMemory<ReturnType<typeof outcome>>()
    memory.learn(twin(1), emptyConfig, { outcome: outcome(1), referred: new Map() })
    expect(memory.recall(twin(2), emptyConfig)).toBeUndefined()
    memory.learn(twin(2), emptyConfig, { outcome: outcome(2), referred: new Map() })
    expect(memory.recall(twin(31), emptyConfig)?.outcome).toStrictEqual(outcome(31))
    expect(memory.recall({ ...twin(31), text: 'another' }, emptyConfig)).toBeUndefined()
    expect(memory.recall(twin(31), { ...emptyConfig })).toBeUndefined()
  })

  test('that came out differently are worked out each', () => {
    const memory = new TwinMemory<ReturnType<typeof outcome>>()
    memory.learn(twin(1), emptyConfig, { outcome: outcome(1), referred: new Map() })
    memory.learn(twin(2), emptyConfig, { outcome: outcome(2, 6), referred: new Map() })
    memory.learn(twin(3), emptyConfig, { outcome: outcome(3), referred: new Map() })
    expect(memory.recall(twin(4), emptyConfig)).toBeUndefined()
  })

  test('prove nothing to each other where other files lie beside them', () => {
    const memory = new TwinMemory<ReturnType<typeof outcome>>()
    const beside = (text: string) => new Map([['conf.yaml', { text }]])
    memory.learn(twin(1), emptyConfig, { outcome: outcome(1), referred: beside('epochs: 1') })
    memory.learn(twin(2), emptyConfig, { outcome: outcome(2, 6), referred: beside('epochs: 2') })
    expect(memory.recall(twin(4), emptyConfig)).toBeUndefined()
    memory.learn(twin(3), emptyConfig, { outcome: outcome(3), referred: beside('epochs: 1') })
    expect(memory.recall(twin(4), emptyConfig)).toStrictEqual({ outcome: outcome(4), referred: beside('epochs: 1') })
  })
})
