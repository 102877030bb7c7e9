import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { InputError } from '../src/errors.ts'
import { readJobs } from '../src/manifests/index.ts'
import { renderFolder } from '../src/rendering.ts'

const root = mkdtempSync(join(tmpdir(), 'gpufare-rendering-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const pod = `apiVersion: v1
kind: Pod
metadata: {name: train}
spec: {restartPolicy: Never, containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 2}}}]}
`

function folderWith(name: string, files: Readonly<Record<string, string>>): string {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name, file)), { recursive: true })
    writeFileSync(join(root, name, file), text)
  }
  return join(root, name)
}

/** A PATH on which one program prints its arguments into a file and a manifest on stdout. */
function pathWith(name: string, program: string, answer: string): NodeJS.ProcessEnv {
  const folder = folderWith(name, {})
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, program),
    `#!/bin/sh\nfor word in "$@"; do echo "$word"; done > ${folder}/words\n${answer}\n`,
    {
      mode: 0o755,
    },
  )
  return { PATH: `${folder}:/bin` }
}

async function refusal(folder: string, environment: NodeJS.ProcessEnv = process.env): Promise<string> {
  const outcome = await renderFolder(folder, environment).catch((error: unknown) => error)
  if (outcome instanceof InputError) return outcome.message
  throw new Error('it was rendered')
}

test('a kustomization is rendered by kubectl, its bases included', async () => {
  const folder = folderWith('plain', {
    'base/pod.yaml': pod,
    'base/kustomization.yaml': 'resources: [pod.yaml]\n',
    'overlay/kustomization.yml': 'resources: [../base]\nnamePrefix: team-\n',
  })
  const manifest = await renderFolder(join(folder, 'overlay'), process.env)
  expect(manifest).toMatchObject({ path: '-', folder: join(folder, 'overlay') })
  const [job] = readJobs(manifest)
  expect([job?.name, job?.roles[0]?.gpuCount.value]).toEqual(['team-train', 2])
})

describe('nothing is fetched', () => {
  test.each([
    ['a repository', 'resources: ["github.com/org/repo//base?ref=v1"]', /refers to github\.com/],
    ['a short one', 'resources: [org/repo]', /refers to org\/repo, which is not here/],
    ['by ssh', 'bases: ["git@example.com:org/repo"]', /refers to git@example/],
    ['an address', 'resources: ["https://example.com/a.yaml"]', /refers to https/],
    ['a component', 'components: ["https://example.com/a"]', /refers to https/],
    ['a patch', 'patches: [{path: "https://example.com/p.yaml"}]', /refers to https/],
    ['a file of a ConfigMap', 'configMapGenerator: [{name: a, files: ["k=https://example.com/p"]}]', /refers to https/],
    ['an API description', 'openapi: {path: "http://example.com/o.json"}', /refers to http/],
    ['charts', 'helmCharts: [{name: a, repo: "https://example.com"}]', /fetches Helm charts/],
  ])('%s', async (name, text, said) => {
    const environment = pathWith(`trap-${name}`, 'kubectl', `touch ${root}/ran`)
    expect(await refusal(folderWith(`remote ${name}`, { 'kustomization.yaml': text }), environment)).toMatch(said)
  })

  test('by a base of a base neither', async () => {
    const folder = folderWith('nested', {
      'kustomization.yaml': 'resources: [a]\n',
      'a/kustomization.yaml': 'resources: ["https://example.com/x.yaml"]\n',
    })
    expect(await refusal(folder)).toMatch(/is not rendered, because that would fetch something/)
  })

  test('bases in a circle end', async () => {
    const folder = folderWith('circle', {
      'a/kustomization.yaml': 'resources: [../b]\n',
      'b/kustomization.yaml': 'resources: [../a]\n',
    })
    expect(await refusal(join(folder, 'a'))).toMatch(/kubectl kustomize refuses it/)
  })
})

test('a chart is rendered by helm, with the folder as one word', async () => {
  const folder = folderWith('my $(chart)', { 'Chart.yaml': 'name: c\nversion: 1.0.0\n' })
  const environment = pathWith('helm-here', 'helm', `cat <<'END'\n${pod}END`)
  const [job] = readJobs(await renderFolder(folder, environment))
  expect(job?.roles[0]?.gpuCount.value).toBe(2)
})

test('without the program one line says what to run', async () => {
  const folder = folderWith('chart', { 'Chart.yaml': 'name: c\nversion: 1.0.0\n' })
  expect(await refusal(folder, { PATH: '/nowhere' })).toMatch(
    /helm\).*helm template release-name .* \| gpufare estimate -/,
  )
})

test('what the program says is passed on, and other folders are none', async () => {
  const folder = folderWith('broken', { 'kustomization.yaml': 'resources: [pod.yaml]\n', 'pod.yaml': 'a: [\n' })
  expect(await refusal(folder)).toMatch(/kubectl kustomize refuses it: \S/)
  expect(await refusal(folderWith('empty', { 'a.yaml': pod }))).toMatch(/is a folder, a file is expected/)
})
