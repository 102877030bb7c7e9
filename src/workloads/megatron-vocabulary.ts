import { findModel, type ModelTable } from '../model.ts'
import { type Flags, findFlag, numberFlag } from './flags.ts'

/** Tokens known to the tokenizers that arguments.py can name, and to the vocabulary files that come with them. */
const VOCABULARIES: readonly (readonly [RegExp, number])[] = [
  [/gpt2|GPT2BPE/, 50_257],
  [/llama-?2|Llama2/i, 32_000],
  [/llama-?3|Llama3/i, 128_256],
  // EleutherAI/gpt-neox-20b, tokenizer.json with its added tokens.
  [/20B_tokenizer|gpt-neox-20b/i, 50_277],
  // BLOOM's, and the ones it was chosen from (BigScience, arXiv 2211.05100, section 3.1.4).
  [/^["']?bigscience\/tokenizer|byte-level-bpe-tokenizer-no-norm-250k/, 250_680],
  [/hf-internal-testing\/llama-tokenizer/, 32_000],
  [/bert-large-uncased|bert-base-uncased|uncased-vocab|BertWordPieceLowerCase/, 30_522],
]

/**
 * Size of the vocabulary; GPT-2's where only the tokenizer's name is missing, since Megatron's examples use it. A tokenizer called after
 * a model is that model's. `section` stands before the names where a configuration has one for the tokenizer.
 */
export function vocabularyOf(
  flags: Flags,
  models: ModelTable,
  section = '',
): { count: number; assumed: boolean } | undefined {
  const given = numberFlag(flags, ['padded-vocab-size', 'vocab-size'])
  if (given === 'unknown') return undefined
  if (given !== undefined) return { count: given.value, assumed: false }
  const names = section === '' ? OPTIONS : KEYS.map(key => `${section}${key}`)
  const named = names.flatMap(name => findFlag(flags, [name])?.value?.written ?? [])
  const entry = VOCABULARIES.find(([pattern]) => named.some(text => pattern.test(text)))
  if (entry !== undefined) return { count: entry[1], assumed: false }
  const ofModels = named.flatMap(text => findModel(text, models)?.value.shape?.vocabulary ?? [])
  if (ofModels[0] !== undefined) return { count: ofModels[0], assumed: false }
  return named.length === 0 ? { count: 50_257, assumed: true } : undefined
}

const OPTIONS = [
  'tokenizer-type',
  'vocab-file',
  'tokenizer-model',
  'tokenizer-name-or-path',
  'tokenizer',
  'tokenizer-name',
]
const KEYS = ['type', 'vocab-file', 'model', 'tokenizer']
