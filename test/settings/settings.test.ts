import { describe, expect, test } from 'vitest'
import { readSettings } from '../../src/settings/index.ts'
import { overlay, section } from '../../src/settings/settings.ts'

function values(path: string, text: string): Record<string, unknown> {
  const settings = readSettings(path, text, { kind: 'file', place: { file: path } })
  return Object.fromEntries([...(settings ?? [])].map(([key, { value }]) => [key, value]))
}

describe('YAML and JSON', () => {
  test('nested keys, lists, anchors and lines', () => {
    const text = 'base: &base\n  lr: 1e-4\nmodel:\n  <<: *base\n  layers: 12\ndata: [a, {path: b}]\n'
    const settings = readSettings('x.yaml', text, { kind: 'file', place: { file: 'x.yaml' } })
    expect(settings?.get('model.layers')).toEqual({
      value: 12,
      origin: { kind: 'file', place: { file: 'x.yaml', line: 5 } },
    })
    expect(values('x.yaml', text)).toMatchObject({ 'base.lr': 1e-4, 'data.0': 'a', 'data.1.path': 'b' })
  })

  test('JSON', () => {
    expect(values('ds.json', '{"zero_optimization": {"stage": 3}, "train_batch_size": "auto"}')).toEqual({
      'zero_optimization.stage': 3,
      train_batch_size: 'auto',
    })
  })

  test('what is no YAML has no settings', () => {
    expect(readSettings('x.yaml', 'a: [1\nb', { kind: 'file', place: { file: 'x' } })).toBeUndefined()
  })
})

test('TOML', () => {
  expect(values('t.toml', '[training]\nsteps = 1_000\nname = "c4"\n[parallelism]\ntp = 8\n')).toEqual({
    'training.steps': 1000,
    'training.name': 'c4',
    'parallelism.tp': 8,
  })
})

describe('Python', () => {
  test('literals, arithmetic over earlier names, comments', () => {
    const text =
      "batch_size = 12 # per GPU\nblock = 1_024\ntokens = (batch_size // 5 + 1) * block ** 2\nout = 'a#b'\non = True\n"
    expect(values('c.py', text)).toEqual({ batch_size: 12, block: 1024, tokens: 3 * 1024 * 1024, out: 'a#b', on: true })
  })

  test('dict(), nested over several lines, lists, trailing commas', () => {
    const text = [
      'train_dataloader = dict(',
      '    batch_size=2,',
      "    dataset=dict(type='CocoDataset', pipeline=[dict(type='Load'), *extra]),",
      ')',
      'crop = (512, 1024)',
      'hooks = {"a": 1, "b": [1, 2,],}',
    ].join('\n')
    expect(values('c.py', text)).toEqual({
      'train_dataloader.batch_size': 2,
      'train_dataloader.dataset.type': 'CocoDataset',
      'train_dataloader.dataset.pipeline.0.type': 'Load',
      'train_dataloader.dataset.pipeline.1': undefined,
      'crop.0': 512,
      'crop.1': 1024,
      'hooks.a': 1,
      'hooks.b.0': 1,
      'hooks.b.1': 2,
    })
  })

  test('what would have to run is given and unknown', () => {
    const text = "import os\nn = int(os.environ['N'])\nm = f'{n}'\nk = 2 if n else 3\nx = names[0]\ny = -3e-4\n"
    const found = values('c.py', text)
    expect(found).toMatchObject({ m: undefined, k: undefined, x: undefined, y: -3e-4 })
    expect(found['n']).toBeUndefined()
  })

  test('only statements that always run; members of an object; the last assignment wins', () => {
    const text = 'a = 1\nif x:\n    a = 2\ndef f():\n    b = 3\ncfg.trainer.max_steps = 100\na = dict(c=1)\n'
    expect(values('c.py', text)).toEqual({ 'a.c': 1, 'cfg.trainer.max_steps': 100 })
  })

  test('texts side by side, in three quotes, and brackets without an end', () => {
    expect(values('c.py', 's = ("a" \'b\')\nt = """x\ny = 1"""\nz = [1, (2\n')).toEqual({
      s: 'ab',
      t: 'x\ny = 1',
      z: undefined,
    })
  })
})

test('sections and overlays', () => {
  const settings = readSettings('x.yaml', 'trainer: {max_steps: 5, devices: 8}\nmodel: gpt\n', {
    kind: 'file',
    place: { file: 'x' },
  })
  if (settings === undefined) throw new Error('not read')
  const over = readSettings('y.yaml', 'trainer: {max_steps: 7}\n', { kind: 'file', place: { file: 'y' } })
  if (over === undefined) throw new Error('not read')
  const trainer = section(overlay(settings, over), 'trainer')
  expect([...trainer].map(([key, { value }]) => [key, value])).toEqual([
    ['max_steps', 7],
    ['devices', 8],
  ])
})
