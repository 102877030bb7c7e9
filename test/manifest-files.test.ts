import { describe, expect, test } from 'vitest'
import { manifestOf } from '../src/manifest.ts'
import { glanceAt } from '../src/manifest-files.ts'
import { readJobs } from '../src/manifests/index.ts'

const blankLines = Buffer.from(`gpu:\n${'\n'.repeat(300_000)}x`)

// With a look that goes back over every blank line these would take minutes, and fail by vitest's own time limit.
test('a file of blank lines is told by one look at each', () => {
  expect(glanceAt('a.yaml', blankLines, [])).toBeUndefined()
  expect(() => readJobs(manifestOf('blank', blankLines))).toThrow(/blank/)
})

test('an object is told by its first words, also as JSON', () => {
  const look = (text: string) => glanceAt('a', Buffer.from(text), [])
  expect(look('\n\n  apiVersion: v1\nkind: Pod\nnvidia.com/gpu: 1\n')).toBe('kubernetes')
  expect(look('{\n  "apiVersion": "v1", "kind": "Pod", "nvidia.com/gpu": 1}')).toBe('kubernetes')
  expect(look('- apiVersion: v1\n  kind: Pod\n  gpu: 1\n')).toBe('kubernetes')
})

test('a SkyPilot task is told by its accelerators', () => {
  const look = (text: string) => glanceAt('a', Buffer.from(text), [])
  expect(look('resources:\n  accelerators: A100:8\nrun: python train.py\n')).toBe('skypilot')
  expect(look('resources: {accelerators: A100:8}\nrun: python train.py\n')).toBe('skypilot')
  expect(look('resources:\n  any_of:\n    - accelerators: H100:8\nrun: x\n')).toBe('skypilot')
  expect(look('resources:\n- gpu-job.yaml\n')).toBeUndefined()
})

describe('a Kubernetes manifest', () => {
  const pod = (indent = '') =>
    ['apiVersion: v1', 'kind: Pod', 'spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}']
      .map(line => `${indent}${line}\n`)
      .join('')
  const look = (path: string, text: string) => glanceAt(path, Buffer.from(text), [])

  test.each([
    ['a text of its own, whatever it is called', 'deploy/pod', pod()],
    ['one in a list', 'list.yaml', `- apiVersion: v1\n  kind: Pod\n  spec: {nvidia.com/gpu: 1}\n`],
    ['one that is indented as a whole', 'pod.yaml', pod('  ')],
    ['JSON', 'pod.json', JSON.stringify({ kind: 'Pod', apiVersion: 'v1', spec: 'nvidia.com/gpu' }, undefined, 2)],
    ['flow style', 'pod.yaml', '{apiVersion: v1, kind: Pod, spec: {limits: {nvidia.com/gpu: 1}}}'],
  ])('is %s', (_, path, text) => {
    expect(look(path, text)).toBe('kubernetes')
  })

  test.each([
    ['a program that writes one', 'create.py', `TEXT = '''\n${pod()}'''\n`],
    ['a script that hands one over', 'deploy', `#!/bin/bash\nkubectl apply -f - <<EOF\n${pod()}EOF\n`],
    ['what builds an image', 'docker/Dockerfile.gpu', `FROM a\n# ${pod()}`],
    ['data that holds words', 'api.pb', `${pod()}\0`],
    [
      'a schema that describes some',
      'swagger.json',
      JSON.stringify({ definitions: { gpu: { apiVersion: {}, kind: {} } } }, undefined, 2),
    ],
    ["a cloud's template that holds one", 'stack.yaml', `Resources:\n  Manifest:\n    Value:\n${pod('      ')}`],
  ])('is not %s', (_, path, text) => {
    expect(look(path, text)).toBeUndefined()
  })
})
