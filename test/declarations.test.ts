import { describe, expect, test } from 'vitest'
import { readDeclarations } from '../src/declarations.ts'

function read(...lines: readonly string[]) {
  return readDeclarations(
    lines.map((line, index) => {
      const at = line.indexOf('=')
      return { key: line.slice(0, at), value: line.slice(at + 1), place: { file: 'job.sbatch', line: index + 2 } }
    }),
  )
}

describe('values', () => {
  test.each<[line: string, key: string, value: unknown]>([
    ['model=meta-llama/Llama-2-7b-hf', 'model', 'meta-llama/Llama-2-7b-hf'],
    ['params=7B', 'params', 7e9],
    ['params=350M', 'params', 350e6],
    ['params=1.3 b', 'params', 1.3e9],
    ['params=6.74B parameters', 'params', 6.74e9],
    ['tokens=300B tokens', 'tokens', 300e9],
    ['tokens=1.4T', 'tokens', 1.4e12],
    ['samples=1_000', 'samples', 1000],
    ['samples=52,002', 'samples', 52_002],
    ['samples=1.28M images', 'samples', 1.28e6],
    ['epochs=3', 'epochs', 3],
    ['epochs=0.5', 'epochs', 0.5],
    ['steps=80k', 'steps', 80_000],
    ['batch=256', 'batch', 256],
    ['seq-len=4096', 'sequenceLength', 4096],
    ['seq-len=8k tokens', 'sequenceLength', 8000],
    ['precision=BF16', 'precision', 'bf16'],
    ['method=lora', 'method', 'lora'],
    [
      'throughput=2450 samples/s on 8xa100-80gb',
      'throughput',
      { perSecond: 2450, unit: 'samples', gpuCount: 8, gpuName: 'a100-80gb' },
    ],
    [
      'throughput=1.2M tokens/sec on 64 x H100',
      'throughput',
      { perSecond: 1.2e6, unit: 'tokens', gpuCount: 64, gpuName: 'H100' },
    ],
    [
      'throughput=12k tokens/s on a100',
      'throughput',
      { perSecond: 12_000, unit: 'tokens', gpuCount: 1, gpuName: 'a100' },
    ],
    ['throughput=0.8 steps/s on 4xl40s', 'throughput', { perSecond: 0.8, unit: 'steps', gpuCount: 4, gpuName: 'l40s' }],
    ['runtime=4h on 8xa100-80gb', 'runtime', { seconds: 14_400, gpuCount: 8, gpuName: 'a100-80gb' }],
    ['runtime=90m', 'runtime', { seconds: 5400 }],
    ['runtime=2h30m', 'runtime', { seconds: 9000 }],
    ['runtime=1.5 hours', 'runtime', { seconds: 5400 }],
    ['runtime=1-02:00:00', 'runtime', { seconds: 93_600 }],
    ['runtime=36:30:00 on l4', 'runtime', { seconds: 131_400, gpuCount: 1, gpuName: 'l4' }],
    ['checkpoint-interval=30m', 'checkpointIntervalSeconds', 1800],
    ['team=speech', 'team', 'speech'],
    ['cost-center= 4711 ', 'costCenter', '4711'],
    ['gpus=8xt4, l40s', 'gpus', ['8xt4', 'l40s']],
    ['gpus=4xmi300x', 'gpus', ['4xmi300x']],
  ])('%s', (line, key, value) => {
    const { declarations, faults } = read(line)
    expect(faults).toEqual([])
    expect(Object.entries(declarations)).toEqual([
      [key, { value, origin: { kind: 'annotation', place: { file: 'job.sbatch', line: 2 } } }],
    ])
  })
})

test('tags have any name', () => {
  const { declarations, faults } = read('tag.project=apollo', 'tag.app.team= core ', 'tag.project=gemini')
  expect(faults).toEqual([])
  expect(declarations.tags).toEqual({ project: 'gemini', 'app.team': 'core' })
})

describe('faults', () => {
  test.each<[line: string, message: RegExp]>([
    ['params=lots', /params=lots: expected a number of parameters/],
    ['params=7B tokens', /expected a number of parameters/],
    ['params=', /expected/],
    ['epochs=-1', /expected a number of epochs/],
    ['epochs=0', /expected a number of epochs/],
    ['steps=1.2.3', /expected a number of optimizer steps/],
    ['precision=int4', /expected one of fp32, tf32, fp16, bf16, fp8/],
    ['method=peft', /expected one of full, lora, qlora/],
    ['throughput=2450 samples/s', /such as 2450 samples\/s on 8xa100-80gb/],
    ['throughput=2450 on 8xa100', /such as 2450 samples\/s/],
    ['runtime=tomorrow', /such as 4h on 8xa100-80gb/],
    ['runtime=4h on', /such as 4h/],
    ['runtime=4', /such as 4h/],
    ['runtime=4h on 0xa100', /such as 4h/],
    ['checkpoint-interval=never', /expected a duration/],
    ['team=', /expected some text/],
    ['tag.project=', /expected some text/],
    ['tag.=apollo', /not a key gpufare knows/],
    ['gpus=8x', /expected GPU types/],
    ['gpus=,', /expected GPU types/],
  ])('%s', (line, message) => {
    const { declarations, faults } = read(line)
    expect(declarations).toEqual({})
    expect(faults).toMatchObject([{ message: expect.stringMatching(message), place: { line: 2 } }])
  })

  test('an unknown key names the nearest one', () => {
    expect(read('epoch=3').faults).toMatchObject([{ hint: 'did you mean epochs?' }])
    expect(read('seq_len=3').faults).toMatchObject([{ hint: 'did you mean seq-len?' }])
  })

  test('a key like none names them all', () => {
    expect(read('colour=blue').faults[0]?.hint).toMatch(/known keys: model, params, tokens/)
  })

  test('every fault is named, and the good lines count', () => {
    const { declarations, faults } = read('epochs=3', 'params=x', 'colour=blue', 'steps=y')
    expect(faults.map(fault => fault.place.line).sort()).toEqual([3, 4, 5])
    expect(declarations.epochs?.value).toBe(3)
  })

  test('of two lines with one key the later counts', () => {
    expect(read('epochs=3', 'epochs=4').declarations.epochs?.value).toBe(4)
  })
})
