import { expect, test } from 'vitest'
import { imageName, isServingImage, SERVING_IMAGES } from '../src/serving-images.ts'

test.each([
  ['vllm/vllm-openai:v0.8.5', 'vllm'],
  ['us-docker.pkg.dev/vertex-ai/vertex-vision-model-garden-dockers/pytorch-vllm-serve:20240930_0916_RC00', 'vllm'],
  ['ghcr.io/huggingface/text-generation-inference:2.4.0', 'tgi'],
  [
    'us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-text-generation-inference-cu124.2-3.ubuntu2204.py311',
    'tgi',
  ],
  ['763104351884.dkr.ecr.us-east-1.amazonaws.com/huggingface-pytorch-tgi-inference:2.4.0-tgi3.0.1-gpu-py311', 'tgi'],
] as const)('%s serves by %s', (image, engine) => {
  expect(isServingImage(image)).toBe(true)
  expect(SERVING_IMAGES[engine].test(imageName(image))).toBe(true)
})

test.each([
  'pytorch/pytorch:2.5.1',
  'example.com/vllm-benchmark:1',
  'example.com/my-text-generation:1',
  'a/text-generation-inference-client:2',
])('%s serves nothing by itself', image => {
  expect(isServingImage(image)).toBe(false)
})
