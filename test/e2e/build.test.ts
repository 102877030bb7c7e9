import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildAll, packagesOf } from '../../scripts/build.ts'

const dist = mkdtempSync(join(tmpdir(), 'gpufare-build-'))
let bundles: ReadonlyMap<string, Metafile> = new Map()

function packagesIn(name: string): readonly string[] | undefined {
  const metafile = bundles.get(name)
  return metafile && packagesOf(metafile).map(folder => folder.replace('node_modules/', ''))
}

beforeAll(async () => {
  bundles = await buildAll(dist)
})

afterAll(() => rmSync(dist, { recursive: true, force: true }))

describe('a bundle of a command', () => {
  // every byte is read at every start, and compiled at the first
  test.each([
    ['estimate', 820],
    ['submit', 900],
  ])('%s stays under %i KB', (name, kilobytes) => {
    expect(statSync(join(dist, `${name}.js`)).size / 1000).toBeLessThan(kilobytes)
  })

  test.each(['estimate', 'submit'])('%s holds no package but those that every run needs', name => {
    expect(packagesIn(name)).toEqual(['@commander-js/extra-typings', 'commander', 'unbash'])
  })

  test('of estimate holds nothing of submit', () => {
    const files = Object.keys(bundles.get('estimate')?.inputs ?? {})
    expect(files).toContain('src/commands/estimate.ts')
    expect(files.filter(file => /prompt|src\/commands\/submit/.test(file) && !file.startsWith('left-out:'))).toEqual([])
  })
})

test.each([
  ['chalk', ['chalk']],
  ['comments-schema', ['zod']],
  ['config-schema', ['zod']],
  ['csv', []],
  ['html', []],
  ['kept-logs', ['zod']],
  ['kubernetes-schema', ['zod']],
  ['markdown', []],
  ['past-corrections', ['zod']],
  ['skypilot-schema', ['zod']],
  ['smol-toml', ['smol-toml']],
  ['sqlite', ['sql.js']],
  ['yaml', ['yaml']],
])('the bundle late/%s holds %j', (name, packages) => {
  expect(packagesIn(`late/${name}`)).toEqual(packages)
})

describe('a published schema', () => {
  test.each(['gpufare', 'gpufare-report', 'gpufare-check', 'gpufare-budget', 'gpufare-learn', 'gpufare-review'])(
    '%s is a JSON Schema with a title',
    name => {
      const schema = JSON.parse(readFileSync(join(dist, 'schemas', `${name}.schema.json`), 'utf8'))
      expect(schema.$schema).toContain('json-schema.org')
      for (const form of schema.anyOf ?? [schema])
        expect(form).toMatchObject({ type: 'object', additionalProperties: false })
      expect(schema.title).toMatch(/^gpufare/)
    },
  )
})
