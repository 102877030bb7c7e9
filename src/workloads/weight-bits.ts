import { type Sourced, sourced } from '../sourced.ts'

/** Bits of a weight by the word for how it is quantised: an option's value, or a part of a model's name. */
const BITS: readonly (readonly [RegExp, number])[] = [
  // llama.cpp's mixtures, scales included (tools/quantize/README.md, Llama 3.1 8B).
  [/^q8_0$/, 8.5],
  [/^q6_k$/, 6.56],
  [/^q5_k_m$/, 5.7],
  [/^q5_k_s$/, 5.57],
  [/^q4_k_m$/, 4.89],
  [/^q4_k_s$/, 4.67],
  [/^q4_0$/, 4.66],
  [/^q3_k_m$/, 4],
  [/^q2_k$/, 3.16],
  [/^(fp8|w8a8|w8a16|int8|8bit|bitsandbytes-int8|eetq|fp8_e4m3|fbgemm_fp8|fp8-dynamic)$/, 8],
  [/^(awq|awq_marlin|nvfp4|mxfp4|fp4|w4a16|int4|4bit|bitsandbytes-nf4|bitsandbytes-fp4|nf4|bnb-4bit)$/, 4],
  // GPTQ has weights of 2, 3, 4 and 8 bits; the name says which, and where it does not they are of 4 (AutoGPTQ's examples).
  [/^gptq(_marlin|-int4|-4bit)?$/, 4],
]

/** Bits that the weights are kept in, by the model's name first, since `gptq` is of any width; undefined where nothing says so. */
export function weightBitsOf(
  modelName: Sourced<string> | undefined,
  quantization: Sourced<string> | undefined,
): Sourced<number> | undefined {
  const parts = modelName?.value.toLowerCase().split(/[-./:]/) ?? []
  const ofName = parts.map(bitsNamed).find((bits, index) => bits !== undefined && parts[index] !== 'gptq')
  if (modelName !== undefined && ofName !== undefined) return sourced(ofName, modelName.origin)
  const ofOption = quantization && bitsNamed(quantization.value.toLowerCase())
  if (quantization !== undefined && ofOption !== undefined) return sourced(ofOption, quantization.origin)
  return modelName !== undefined && parts.includes('gptq') ? sourced(4, modelName.origin) : undefined
}

function bitsNamed(word: string): number | undefined {
  return BITS.find(([pattern]) => pattern.test(word))?.[1]
}
