import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { forwardFlopsPerSample, forwardFlopsPerToken, layerParameterCount, trainingFlops } from '../src/flops.ts'
import { decoder, gpt3, llama2 } from './published-models.ts'

describe('FLOPs of a network', () => {
  it('are 2 for each of the 175 billion weights of GPT-3 a token, and 4·L·h·s for attention', () => {
    // Brown et al., arXiv 2005.14165, appendix D: 350 GFLOP forward per token without attention.
    const { matrix, attention } = forwardFlopsPerToken(gpt3, 2048)
    expect(matrix / 350e9).toBeCloseTo(1, 1)
    expect(attention).toBe(4 * 96 * 12288 * 2048)
  })

  it("agree with Megatron's formula for a training step with full recompute", () => {
    // Narayanan et al., arXiv 2104.04473, equation 3: 96·B·s·l·h²·(1 + s/6h + V/16lh), which counts no recompute of the output layer.
    const [batch, s, l, h, v] = [1536, 2048, 96, 12288, 51200]
    const published = 96 * batch * s * l * h ** 2 * (1 + s / (6 * h) + v / (16 * l * h))
    const forward = forwardFlopsPerToken(decoder('GPT-175B', { layers: l, hidden: h, heads: 96, vocabulary: v }), s)
    const step = trainingFlops(forward, 'full', 'full')
    expect(((step.matrix + step.attention) * batch * s) / published).toBeCloseTo(1, 2)
  })

  it('grow with a grouped key-value head only in the key and value projections', () => {
    const full = decoder('', { layers: 80, hidden: 8192, heads: 64, feedForward: 28672, gatedFeedForward: true })
    const grouped = decoder('', {
      layers: 80,
      hidden: 8192,
      heads: 64,
      keyValueHeads: 8,
      feedForward: 28672,
      gatedFeedForward: true,
    })
    const saved = forwardFlopsPerToken(full, 4096).matrix - forwardFlopsPerToken(grouped, 4096).matrix
    expect(saved).toBe(2 * 80 * 2 * 8192 * (8192 - 1024))
  })

  it('of Llama 2 7B are 6·N per trained token to 3 % where the sequence is short', () => {
    const { matrix, attention } = trainingFlops(forwardFlopsPerToken(llama2, 512), 'full', 'none')
    expect((matrix + attention) / (6 * 6.74e9)).toBeCloseTo(1, 1)
  })

  it('need no weight gradients for frozen weights: LoRA takes two thirds of the matrix work', () => {
    const forward = { matrix: 3, attention: 1 }
    expect(trainingFlops(forward, 'lora', 'none').matrix).toBe(6)
    expect(trainingFlops(forward, 'full', 'none').matrix).toBe(9)
    expect(trainingFlops(forward, 'lora', 'none').attention).toBe(trainingFlops(forward, 'full', 'none').attention)
  })

  it('of a sample are what the table says for a network without tokens', () => {
    const resnet = {
      name: 'resnet50',
      kind: 'convolutional',
      parameterCount: 25.6e6,
      activeParameterCount: 25.6e6,
    } as const
    expect(forwardFlopsPerSample({ ...resnet, forwardFlopsPerSample: 8.2e9 }, undefined)).toEqual({
      matrix: 8.2e9,
      attention: 0,
    })
    expect(forwardFlopsPerSample(resnet, undefined)).toBeUndefined()
  })

  it('are never more for a token than all weights times two', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 200 }), (layers, heads) => {
        const model = decoder('', { layers, hidden: heads * 64, heads })
        expect(forwardFlopsPerToken(model, 1).matrix).toBeLessThanOrEqual(2 * model.parameterCount * 1.001)
      }),
    )
  })
})

describe('weights of a layer', () => {
  it('are 202,375,168 for Llama 2 7B, norms aside', () => {
    // 4·4096² for attention and 3·4096·11008 for the feed-forward.
    if (llama2.shape === undefined) throw new Error('no shape')
    expect(layerParameterCount(llama2.shape)).toBe(202_375_168)
  })
})
