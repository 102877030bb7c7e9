import { expect, test } from 'vitest'
import { findCommandLines } from '../../src/command-lines.ts'
import type { ModelTable, TransformerShape } from '../../src/model.ts'
import { readFlags } from '../../src/workloads/flags.ts'
import { vocabularyOf } from '../../src/workloads/megatron-vocabulary.ts'

const shape: TransformerShape = {
  layers: 2,
  hidden: 64,
  heads: 4,
  keyValueHeads: 4,
  headSize: 16,
  feedForward: 256,
  gatedFeedForward: true,
  vocabulary: 131_072,
  contextLength: 128,
  tiedEmbeddings: false,
}
const model = { name: 'made-1b', kind: 'decoder', parameterCount: 1e9, activeParameterCount: 1e9, shape } as const
const models: ModelTable = { find: spelling => (spelling === 'made1b' ? { model, source: 'for a test' } : undefined) }

test.each([
  ['', { count: 50_257, assumed: true }],
  ['--vocab-size 1000', { count: 1_000, assumed: false }],
  ['--tokenizer-type GPT2BPETokenizer', { count: 50_257, assumed: false }],
  ['--tokenizer-type HuggingFaceTokenizer --tokenizer-model lab/made-1b', { count: 131_072, assumed: false }],
  [
    '--tokenizer-type PretrainedFromHF --tokenizer-name-or-path bigscience/tokenizer',
    { count: 250_680, assumed: false },
  ],
  ['--tokenizer-type HuggingFaceTokenizer --tokenizer-model lab/another', undefined],
])('the vocabulary of %j', (words, expected) => {
  const { commandLines } = findCommandLines(`python pretrain_gpt.py ${words}`, {
    file: 'job.sh',
    firstLine: 1,
    variables: {},
    arguments: [],
  })
  const [line] = commandLines
  if (line === undefined) throw new Error('no command')
  expect(vocabularyOf(readFlags(line), models)).toEqual(expected)
})
