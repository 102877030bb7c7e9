/**
 * Images that serve as they are, by the last part of their names, those of AWS's and Google's deep learning containers among them
 * (`huggingface-text-generation-inference-cu124.2-3`); the keys are what the engines are called in reports.
 */
export const SERVING_IMAGES = {
  vllm: /^(?:pytorch-)?vllm(?:-openai|-serve|-inference)?(?:-cu\d.*)?$/,
  sglang: /^sglang$/,
  tgi: /^(?:huggingface-)?(?:pytorch-)?(?:text-generation-inference|tgi-inference)(?:-cu\d.*)?$/,
  'text-embeddings-inference': /^text-embeddings-inference$/,
  'llama.cpp': /^llama\.cpp$/,
  ollama: /^ollama$/,
  huggingfaceserver: /^huggingfaceserver$/,
} as const

/** Whether a container of this image that is told nothing answers requests. */
export function isServingImage(image: string): boolean {
  const name = imageName(image)
  return Object.values(SERVING_IMAGES).some(pattern => pattern.test(name))
}

/** `vllm-openai` of `docker.io/vllm/vllm-openai:v0.8.5`. */
export function imageName(image: string): string {
  return /^[\w.-]+/.exec(image.slice(image.lastIndexOf('/') + 1))?.[0] ?? ''
}
