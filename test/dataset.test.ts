import { describe, expect, test } from 'vitest'
import { datasetOfFolder, findDataset, openDatasets } from '../src/dataset.ts'

const table = openDatasets([
  { name: 'imagenet-1k', aliases: 'imagenet;ilsvrc/imagenet-1k', samples: '1281167', source: 'here' },
  {
    name: 'wikitext-103',
    aliases: 'wikitext-103-raw-v1;wikitext/wikitext-103-raw-v1',
    tokens: '117920140',
    tokenizer: 'gpt2',
  },
  { name: 'glue/mnli', aliases: 'nyu-mll/glue/mnli', samples: '392702', source: 'here' },
])

describe('a name', () => {
  test.each([
    ['ImageNet', undefined, 'imagenet-1k'],
    ['imagenet_1k', undefined, 'imagenet-1k'],
    ['ILSVRC/imagenet-1k', undefined, 'imagenet-1k'],
    ['wikitext-103-raw-v1', undefined, 'wikitext-103'],
    ['wikitext', 'wikitext-103-raw-v1', 'wikitext-103'],
    ['nyu-mll/glue', 'mnli', 'glue/mnli'],
    ['glue/mnli', undefined, 'glue/mnli'],
    ['imagenet', 'default', 'imagenet-1k'],
  ])('%s with %s is %s', (name, configuration, found) => {
    expect(findDataset(name, configuration, table)?.name).toBe(found)
  })

  test.each([
    ['wikitext', undefined],
    ['wikitext', 'wikitext-2-raw-v1'],
    ['imagenet', 'subset-10'],
    ['somebody/imagenet-1k', undefined],
    ['imagenet-1k-cats', undefined],
    ['', undefined],
  ])('%s with %s is not known', (name, configuration) => {
    expect(findDataset(name, configuration, table)).toBeUndefined()
  })
})

test('figures: samples, or tokens with their tokenizer', () => {
  expect(findDataset('imagenet', undefined, table)).toEqual({ name: 'imagenet-1k', samples: 1_281_167, source: 'here' })
  expect(table.find('wikitext103')?.tokens).toEqual({ count: 117_920_140, tokenizer: 'gpt2' })
})

test.each([
  ['/data/imagenet', 'imagenet-1k'],
  ['/scratch/me/ImageNet/train', 'imagenet-1k'],
  ['/data/imagenet-mini', undefined],
  ['/data/faces', undefined],
])('the folder %s hints at %s', (path, found) => {
  expect(datasetOfFolder(path, table)?.name).toBe(found)
})
