import { expect, test } from 'vitest'
import { connectionWords, refuseOtherManifests } from '../../src/schedulers/kubernetes/options.ts'

test.each([
  ['--context dev -n team-a', '--context dev -n team-a'],
  ['--context=dev --namespace=team-a', '--context=dev --namespace=team-a'],
  ['-nteam-a -o name --token x', '-nteam-a --token x'],
  ['-n=team-a', '-n=team-a'],
  ['--validate=false --save-config -v 6 --kubeconfig k', '--kubeconfig k'],
  ['-o -n --context dev', '--context dev'],
  [
    '--insecure-skip-tls-verify --field-manager me -s https://127.0.0.1',
    '--insecure-skip-tls-verify -s https://127.0.0.1',
  ],
  ['--dry-run --context dev', '--context dev'],
])('of %s other commands get %s', (words, kept) => {
  expect(connectionWords(words.split(' ')).join(' ')).toBe(kept)
})

test.each([
  '-f other.yaml',
  '-fother.yaml',
  '--filename=other.yaml',
  '-Rf other.yaml',
  '-k dir',
  '--kustomize dir',
  '--edit',
  '--raw=/api',
  'job other',
])('%s would create something else than what was quoted', words => {
  expect(() => refuseOtherManifests(words.split(' '))).toThrow(expect.objectContaining({ exitCode: 2 }))
})

test('options that only say where and how are kubectl’s own business', () => {
  const words = '-n team-a --context dev --validate=strict --save-config -R --dry-run=client -o yaml --v=6'
  expect(() => refuseOtherManifests(words.split(' '))).not.toThrow()
})
