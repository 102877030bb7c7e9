import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openTable } from '../../src/csv.ts'
import { activeParameters, canonicalSpelling, countParameters, type Model, modelOf } from '../../src/model.ts'

const rows = openTable(readFileSync('pricing-data/models.csv', 'utf8')).rows()
const models = rows.map(modelOf)

/** Kinds that are one transformer and nothing beside it. */
const plainKinds: readonly string[] = ['decoder', 'encoder', 'encoder-decoder', 'vision-transformer']
const shaped = models.flatMap(model =>
  model.shape !== undefined && plainKinds.includes(model.kind) ? [{ ...model, shape: model.shape }] : [],
)

describe('models.csv', () => {
  test('holds at least 170 models', () => {
    expect(models.length).toBeGreaterThanOrEqual(170)
  })

  test('gives every spelling to one model only', () => {
    const spellings = rows.flatMap(row => [row['name'] ?? '', ...(row['aliases'] ?? '').split(';').filter(Boolean)])
    const canonical = spellings.map(canonicalSpelling)
    expect(canonical.filter((spelling, index) => canonical.indexOf(spelling) !== index)).toEqual([])
  })

  test('writes names and aliases in lower case, without what a look-up takes away', () => {
    const spellings = rows.flatMap(row => [row['name'] ?? '', ...(row['aliases'] ?? '').split(';').filter(Boolean)])
    expect(spellings.filter(spelling => !/^[a-z0-9][a-z0-9._-]*$/.test(spelling) || /\.[a-z]/.test(spelling))).toEqual(
      [],
    )
  })

  test('says of every row where it was read', () => {
    expect(rows.filter(row => row['source'] === '').map(row => row['name'])).toEqual([])
  })

  test('states parameters within 2 % of what the shape of each transformer gives', () => {
    const far = shaped.filter(
      model => Math.abs(countParameters(model.kind, model.shape) / model.parameterCount - 1) > 0.02,
    )
    expect(far.map(model => [model.name, countParameters(model.kind, model.shape), model.parameterCount])).toEqual([])
  })

  // Publishers count active parameters with both embedding tables, with one, or with none.
  test('states active parameters between those of the layers alone and those with every embedding, within 3 %', () => {
    const mixtures = shaped.filter(model => model.shape.experts !== undefined)
    expect(mixtures.length).toBeGreaterThan(10)
    const isFar = ({ kind, shape, activeParameterCount }: (typeof mixtures)[number]) => {
      const all = activeParameters(kind, shape)
      return (
        activeParameterCount > 1.03 * all || activeParameterCount < 0.97 * (all - 2 * shape.vocabulary * shape.hidden)
      )
    }
    expect(mixtures.filter(isFar).map(model => model.name)).toEqual([])
  })

  test('gives FLOPs and the size they are for together', () => {
    const halves = (model: Model) => (model.forwardFlopsPerSample === undefined) !== (model.nativeSize === undefined)
    expect(models.filter(halves).map(model => model.name)).toEqual([])
  })

  test('counts a multiply-add as two FLOPs: ResNet-50 takes 8.2 GFLOP forward', () => {
    const resnet50 = models.find(model => model.name === 'resnet50')
    expect(resnet50?.forwardFlopsPerSample).toBeCloseTo(8.2e9, -8)
  })

  test('shares each key-value head among a whole number of heads', () => {
    const odd = shaped.filter(({ shape }) => shape.heads % shape.keyValueHeads !== 0)
    expect(odd.map(model => model.name)).toEqual([])
  })
})
