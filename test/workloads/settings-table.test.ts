import { expect, test } from 'vitest'
import { readSettings } from '../../src/settings/index.ts'
import { known, numberFlag, switchFlag, textFlag } from '../../src/workloads/flags.ts'
import { layFlags, settingsAsFlags } from '../../src/workloads/settings-table.ts'
import { readTable } from '../../src/workloads/training-flags.ts'

const place = { file: 'job.sbatch', line: 9 }
const file = { kind: 'file', place: { file: 'conf/run.yaml' } } as const

function flagsOf(yaml: string) {
  const settings = readSettings('run.yaml', yaml, file)
  if (settings === undefined) throw new Error('not YAML')
  return settingsAsFlags(settings, place)
}

test('a configuration is read by the same table as options, each value with its line', () => {
  const flags = flagsOf('trainer:\n  max_steps: 1_000\nmodel:\n  name: tiny-1b\n')
  const { steps, modelName } = readTable(flags, { steps: ['trainer.max-steps'], modelName: ['model.name'] })
  expect(steps).toEqual({ value: 1000, origin: { kind: 'file', place: { file: 'conf/run.yaml', line: 2 } } })
  expect(known(modelName)?.value).toBe('tiny-1b')
})

test('null is not given, false is', () => {
  const flags = flagsOf('max_steps: null\npacking: false\nlr:\n')
  expect([numberFlag(flags, ['max-steps']), textFlag(flags, ['lr'])]).toEqual([undefined, undefined])
  expect(known(switchFlag(flags, ['packing']))?.value).toBe(false)
})

test('a value that only the running program knows is given and unknown', () => {
  const settings = new Map([['max_steps', { value: undefined, origin: file }]])
  expect(numberFlag(settingsAsFlags(settings, place), ['max-steps'])).toBe('unknown')
})

test('what is laid over wins, the rest stays', () => {
  const both = layFlags(flagsOf('steps: 10\nseq_len: 512\n'), flagsOf('steps: 20\n'))
  expect([known(numberFlag(both, ['steps']))?.value, known(numberFlag(both, ['seq-len']))?.value]).toEqual([20, 512])
})
