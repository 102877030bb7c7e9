import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { helpTexts } from '../../src/cli.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'gpufare-package-'))
const home = mkdtempSync(join(folder, 'home-'))
const prefix = join(folder, 'prefix')
const installed = join(prefix, 'lib/node_modules/gpufare')

/** Packs the build that is there and installs it as a user would, elsewhere. */
beforeAll(() => {
  const npm = (...words: string[]) =>
    execFileSync('npm', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  npm('pack', '--ignore-scripts', '--pack-destination', folder)
  const [tarball = ''] = readdirSync(folder).filter(file => file.endsWith('.tgz'))
  npm('install', '--global', '--offline', '--no-audit', '--no-fund', '--prefix', prefix, join(folder, tarball))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the installed program in an empty home. */
function gpufare(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(join(prefix, 'bin/gpufare'), words, {
    cwd: home,
    encoding: 'utf8',
    env: { HOME: home, PATH: process.env['PATH'] },
    input: '',
  })
  return { status, stdout, stderr }
}

describe('the package, installed elsewhere', () => {
  test('has what it needs and nothing else', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter(
      file => !statSync(join(installed, file)).isDirectory(),
    )
    const tops = new Set(files.map(file => file.split('/')[0]))
    expect([...tops].sort()).toEqual(
      expect.arrayContaining(['CHANGELOG.md', 'LICENSE', 'README.md', 'bin', 'dist', 'package.json', 'pricing-data']),
    )
    expect(files.filter(file => /node_modules|\.tsx?$|^(src|test|scripts)\//.test(file))).toEqual([])
    expect(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))).not.toHaveProperty('dependencies')
  })

  test('names every package in it with its licence', () => {
    const notices = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
    for (const name of ['commander', 'inquirer', 'ora'])
      expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'))
  })

  test('says its version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(gpufare('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  test.each([
    [[], ''],
    [['estimate'], 'estimate'],
    [['submit'], 'submit'],
  ])('answers %j --help with the words that commander would use', (words, command) => {
    expect(gpufare(...words, '--help')).toEqual({ status: 0, stdout: helpTexts()[command], stderr: '' })
  })

  test('names a wrong command and ends with 2', () => {
    const { status, stdout, stderr } = gpufare('estimat', 'x')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain('Did you mean estimate?')
  })

  test('does not take the name of another file of the build for a command', () => {
    expect(gpufare('gpufare').stderr).toContain("unknown command 'gpufare'")
  })

  test('quotes a job, in an empty home', () => {
    const { status, stdout } = gpufare('estimate', join(root, 'test/cases/example/train.sbatch'))
    expect(stdout).toMatch(/8x A100/)
    expect(stdout).toMatch(/\$\d/)
    expect(status).toBe(0)
  })
})
