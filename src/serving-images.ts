/** Images that serve as they are, by the last part of their names; the keys are what the engines are called in reports. */
export const SERVING_IMAGES = {
  vllm: /^(?:vllm-openai|vllm)$/,
  sglang: /^sglang$/,
  tgi: /^text-generation-inference$/,
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
