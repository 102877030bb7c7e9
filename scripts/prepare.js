// What a fresh clone lacks, with nothing but Node.js and npm: packages and a build. Does only what is out of date.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Installs and builds where needed, and says on stderr what it does; false where that failed. */
export function prepare() {
  return install() && build()
}

function install() {
  if (newest('package-lock.json') <= newest('node_modules/.package-lock.json')) return true
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  return run('installing packages', npm, ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--no-update-notifier'])
}

function build() {
  const sources = ['src', 'scripts', 'package-lock.json', 'package.json']
  if (Math.max(...sources.map(newest)) <= newest('dist/help.json')) return true
  return run('building', process.execPath, ['node_modules/tsx/dist/cli.mjs', 'scripts/build.ts'])
}

/** When a file, or the newest file of a folder, was changed; 0 where there is none. */
function newest(path) {
  const full = join(root, path)
  if (!existsSync(full)) return 0
  if (!statSync(full).isDirectory()) return statSync(full).mtimeMs
  return Math.max(0, ...readdirSync(full).map(entry => newest(join(path, entry))))
}

function run(what, program, words) {
  process.stderr.write(`gpufare: ${what}\n`)
  const { status, error } = spawnSync(program, words, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status === 0) return true
  process.stderr.write(`gpufare: ${what} failed: ${error?.message ?? `${program} ${words.join(' ')}`}\n`)
  return false
}
