import { expect, test } from 'vitest'
import { manifestOf } from '../src/manifest.ts'
import { glanceAt } from '../src/manifest-files.ts'
import { readJobs } from '../src/manifests/index.ts'

const blankLines = Buffer.from(`gpu:\n${'\n'.repeat(300_000)}x`)

// With a look that goes back over every blank line these would take minutes, and fail by vitest's own time limit.
test('a file of blank lines is told by one look at each', () => {
  expect(glanceAt(blankLines, [])).toBeUndefined()
  expect(() => readJobs(manifestOf('blank', blankLines))).toThrow(/blank/)
})

test('an object is told by its first words, also as JSON', () => {
  const look = (text: string) => glanceAt(Buffer.from(text), [])
  expect(look('\n\n  apiVersion: v1\nkind: Pod\nnvidia.com/gpu: 1\n')).toBe('kubernetes')
  expect(look('{\n  "apiVersion": "v1", "kind": "Pod", "nvidia.com/gpu": 1}')).toBe('kubernetes')
  expect(look('- apiVersion: v1\n  kind: Pod\n  gpu: 1\n')).toBe('kubernetes')
})

test('a SkyPilot task is told by its accelerators', () => {
  const look = (text: string) => glanceAt(Buffer.from(text), [])
  expect(look('resources:\n  accelerators: A100:8\nrun: python train.py\n')).toBe('skypilot')
  expect(look('resources: {accelerators: A100:8}\nrun: python train.py\n')).toBe('skypilot')
  expect(look('resources:\n  any_of:\n    - accelerators: H100:8\nrun: x\n')).toBe('skypilot')
  expect(look('resources:\n- gpu-job.yaml\n')).toBeUndefined()
})
