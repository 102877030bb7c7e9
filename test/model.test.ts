import { describe, expect, test } from 'vitest'
import {
  activeParameters,
  canonicalSpelling,
  countParameters,
  findModel,
  findModelLine,
  modelOf,
} from '../src/model.ts'
import { readTables } from '../src/pricing-data.ts'

const { models } = readTables('pricing-data')
const nameOf = (written: string) => findModel(written, models)?.value.name

const llama2 = {
  layers: 32,
  hidden: 4096,
  heads: 32,
  keyValueHeads: 32,
  headSize: 128,
  feedForward: 11008,
  gatedFeedForward: true,
  vocabulary: 32000,
  contextLength: 4096,
  tiedEmbeddings: false,
}

describe('parameters counted from a shape', () => {
  test('of Llama 2 7B are those of its published weights', () => {
    expect(countParameters('decoder', llama2)).toBe(6_738_415_616)
  })

  test('of Mixtral 8x7B are those of its published weights, two experts of eight for one token', () => {
    const experts = { count: 8, perToken: 2, shared: 0, feedForward: 14336, denseLayers: 0 }
    const mixtral = { ...llama2, keyValueHeads: 8, feedForward: 14336, experts }
    expect(countParameters('decoder', mixtral)).toBe(46_702_792_704)
    expect(activeParameters('decoder', mixtral)).toBe(12_879_925_248)
  })

  test('of T5 small, with two stacks and cross attention, are within 0.01 % of its published weights', () => {
    const t5 = {
      ...llama2,
      ...{ layers: 6, decoderLayers: 6, hidden: 512, heads: 8, keyValueHeads: 8, headSize: 64, feedForward: 2048 },
      ...{ gatedFeedForward: false, vocabulary: 32128, tiedEmbeddings: true },
    }
    expect(countParameters('encoder-decoder', t5) / 60_506_624).toBeCloseTo(1, 4)
  })

  test('of ALBERT base count its twelve layers once, and each use of them where a token meets them', () => {
    const albert = {
      ...llama2,
      ...{ layers: 12, distinctLayers: 1, hidden: 768, heads: 12, keyValueHeads: 12, headSize: 64, feedForward: 3072 },
      ...{ gatedFeedForward: false, vocabulary: 30000, tiedEmbeddings: true, embeddingSize: 128 },
    }
    expect(countParameters('encoder', albert)).toBe(3_840_000 + 98_304 + 7_077_888 + 2 * 768 + 768 + 589_824)
    expect(activeParameters('encoder', albert)).toBe(3_840_000 + 98_304 + 12 * (7_077_888 + 2 * 768) + 768 + 589_824)
  })

  test('of a ViT base count patches, positions and classes instead of words', () => {
    const vit = {
      ...llama2,
      ...{ layers: 12, hidden: 768, heads: 12, keyValueHeads: 12, headSize: 64, feedForward: 3072, patchSize: 16 },
      ...{ gatedFeedForward: false, vocabulary: 1000, contextLength: 197, tiedEmbeddings: true },
    }
    expect(countParameters('vision-transformer', vit) / 86_567_656).toBeCloseTo(1, 2)
  })
})

describe('a model name', () => {
  test.each([
    ['meta-llama/Llama-2-7b-hf', 'llama-2-7b'],
    ['meta-llama/Llama-2-70b-chat-hf', 'llama-2-70b'],
    ['llama2_7b', 'llama-2-7b'],
    ['/data/models/Llama-2-7b-hf/', 'llama-2-7b'],
    [
      '/scratch/hub/models--meta-llama--Llama-2-13b-hf/snapshots/5c31dfb671ce7cfe2d7bb7c04375e44c55e815b1',
      'llama-2-13b',
    ],
    ['out/llama-2-7b/checkpoint-500', 'llama-2-7b'],
    ['TheBloke/Llama-2-13B-chat-GPTQ', 'llama-2-13b'],
    ['llama-2-7b.Q4_K_M.gguf', 'llama-2-7b'],
    ['huggyllama/llama-7b', 'llama-7b'],
    ['meta-llama/Meta-Llama-3-8B', 'llama-3-8b'],
    ['llama3:8b', 'llama-3-8b'],
    ['unsloth/Meta-Llama-3.1-8B-Instruct-unsloth-bnb-4bit', 'llama-3.1-8b'],
    ['RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8-dynamic', 'llama-3.1-70b'],
    ['neuralmagic/Meta-Llama-3.1-8B-Instruct-quantized.w4a16', 'llama-3.1-8b'],
    ['mistralai/Mistral-7B-v0.1', 'mistral-7b'],
    ['mistralai/Mistral-7B-Instruct-v0.3', 'mistral-7b'],
    ['mistralai/Mixtral-8x7B-Instruct-v0.1', 'mixtral-8x7b'],
    ['mistralai/Mistral-Nemo-Instruct-2407', 'mistral-nemo-12b'],
    ['mistralai/Ministral-8B-Instruct-2410', 'ministral-8b'],
    ['Qwen/Qwen2.5-14B-Instruct', 'qwen2.5-14b'],
    ['Qwen/Qwen2.5-Coder-32B-Instruct-AWQ', 'qwen2.5-32b'],
    ['Qwen/Qwen3-235B-A22B-Instruct-2507', 'qwen3-235b-a22b'],
    ['google/gemma-2-9b-it', 'gemma-2-9b'],
    ['microsoft/phi-1_5', 'phi-1.5'],
    ['microsoft/Phi-3-mini-128k-instruct', 'phi-3-mini'],
    ['deepseek-ai/DeepSeek-R1-Distill-Llama-8B', 'llama-3.1-8b'],
    ['gpt2-xl', 'gpt2-xl'],
    ['EleutherAI/pythia-1.4b', 'pythia-1.4b'],
    ['EleutherAI/pythia-6.9b-deduped', 'pythia-6.9b'],
    ['bigscience/bloom-7b1', 'bloom-7b1'],
    ['tiiuae/falcon-7b', 'falcon-7b'],
    ['facebook/opt-1.3b', 'opt-1.3b'],
    ['bert-large-uncased-whole-word-masking-finetuned-squad', 'bert-large-uncased'],
    ['distilbert-base-uncased-finetuned-sst-2-english', 'distilbert-base-uncased'],
    ['sentence-transformers/all-MiniLM-L6-v2', 'all-minilm-l6-v2'],
    ['google/flan-t5-xl', 'flan-t5-xl'],
    ['bigscience/T0_3B', 'flan-t5-xl'],
    ['esm2_t33_650M_UR50D', 'esm2-650m'],
    ['resnet-50', 'resnet50'],
    ['vit_large_patch16_224.augreg_in21k_ft_in1k', 'vit-large-patch16-224'],
    ['efficientnet_b4', 'efficientnet-b4'],
    ['deeplabv3_resnet101', 'deeplabv3-resnet101'],
    ['yolov8n.pt', 'yolov8n'],
    ['stabilityai/stable-diffusion-xl-base-1.0', 'stable-diffusion-xl'],
    ['runwayml/stable-diffusion-v1-5', 'stable-diffusion-v1-5'],
    ['openai/whisper-large-v3', 'whisper-large-v3'],
    ['openai/whisper-small.en', 'whisper-small'],
    ['llava-hf/llava-1.5-13b-hf', 'llava-1.5-13b'],
  ])('"%s" is %s', (written, name) => {
    expect(nameOf(written)).toBe(name)
  })

  test.each([
    ['', 'nothing'],
    ['/', 'nothing but a separator'],
    ['name', 'the heading of the table'],
    ['decoder', 'a cell of another column'],
    ['llama-2-8b', 'a size that does not exist'],
    ['llama-2', 'a family without a size'],
    ['bert', 'a family without a size'],
    ['opt-1-3b', 'neither OPT 13B nor 1.3B'],
    ['llama-27b', 'no Llama 2 7B'],
    ['stablelm-base-alpha-7b-v2', 'a second version of another shape'],
    ['openai/whisper-large-v4', 'a version not known'],
    ['gpt-4', 'a model whose size is not published'],
    ['my-llama-2-7b-pruned', 'somebody’s own'],
    ['/data/llama-2-7b/tokenizer', 'something beside a model'],
    ['stabilityai/sdxl-vae', 'a part of another model'],
    ['CohereForAI/c4ai-command-r-08-2024', 'a later release of another shape'],
    ['vit_b_16', 'one thing in torchvision and another in open_clip'],
    ['llama-2-7b,', 'no name'],
    ['(a+)+$', 'an expression'],
    ['a'.repeat(1_000_000), 'longer than any name'],
  ])('"%.40s" is unknown: %s', written => {
    expect(nameOf(written)).toBeUndefined()
  })

  test('found says which row it is and where that was read', () => {
    expect(findModel('gpt2-xl', models)?.origin).toMatchObject({ kind: 'table', table: 'models.csv', row: 'gpt2-xl' })
  })

  test('keeps two numbers apart and nothing else', () => {
    expect(canonicalSpelling('Llama_2-7B')).toBe('llama2-7b')
    expect(canonicalSpelling('ResNet-50')).toBe(canonicalSpelling('resnet50'))
    expect(canonicalSpelling('gemma-2-27b')).not.toBe(canonicalSpelling('gemma-22-7b'))
  })
})

describe('the line of a model', () => {
  const csv = 'name,aliases,kind\nllama-2-7b,vicuna-7b;orca_2,decoder\nt5-small,,encoder-decoder\n'

  test.each([
    ['llama2-7b', 'llama-2-7b,vicuna-7b;orca_2,decoder'],
    ['vicuna7b', 'llama-2-7b,vicuna-7b;orca_2,decoder'],
    ['orca2', 'llama-2-7b,vicuna-7b;orca_2,decoder'],
    ['t5small', 't5-small,,encoder-decoder'],
    ['una7b', undefined],
    ['llama2', undefined],
  ])('called %s is found by a whole name only', (spelling, line) => {
    expect(findModelLine(csv, spelling)).toBe(line)
  })
})

describe('a row', () => {
  test('without parameters is a fault of the table that names row and column', () => {
    expect(() => modelOf({ name: 'x', kind: 'decoder', params: '' })).toThrow(/row "x", column "params"/)
  })

  test('of an unknown kind is a fault that lists the kinds', () => {
    expect(() => modelOf({ name: 'x', kind: 'llm', params: '1' })).toThrow(/"llm", expected decoder, encoder/)
  })
})
