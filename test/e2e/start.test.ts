import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'gpufare-start-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What npm start does for somebody who stands in `folder`. */
function start(...words: string[]) {
  return spawnSync(process.execPath, [join(root, 'scripts/start.js'), ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { HOME: folder, PATH: process.env['PATH'], INIT_CWD: folder },
    input: '',
  })
}

describe('npm start', () => {
  test('without a terminal quotes the example and ends with 0', () => {
    const { status, stdout } = start()
    expect(stdout).toMatch(/8x A100/)
    expect(status).toBe(0)
  })

  test('passes words on, with paths from where the user stands', () => {
    copyFileSync(join(root, 'test/cases/example/train.sbatch'), join(folder, 'my.sbatch'))
    const { status, stdout } = start('estimate', 'my.sbatch')
    expect(stdout).toContain('my.sbatch')
    expect(status).toBe(0)
  })

  test('ends as gpufare ends', () => {
    const { status, stderr } = start('estimate', 'missing.sbatch')
    expect(stderr).toContain('missing.sbatch')
    expect(status).toBe(2)
  })
})
