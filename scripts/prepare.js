// What a fresh clone lacks, with nothing but Node.js and npm: packages and a build. Does only what is out of date.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Installs and builds where needed; ends the process where that fails. Talks on stderr only. */
export function prepare() {
  if (newest('package-lock.json') > newest('node_modules/.package-lock.json')) {
    say('installing packages')
    run(process.platform === 'win32' ? 'npm.cmd' : 'npm', [
      'ci',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--no-update-notifier',
    ])
  }
  const sources = ['src', 'scripts', 'package-lock.json', 'package.json', 'pricing-data']
  if (Math.max(...sources.map(newest)) > newest('dist/help.json')) {
    say('building')
    run(process.execPath, ['node_modules/tsx/dist/cli.mjs', 'scripts/build.ts'])
  }
}

/** When a file, or the newest file of a folder, was changed; 0 where there is none. */
function newest(path) {
  const full = join(root, path)
  if (!existsSync(full)) return 0
  if (!statSync(full).isDirectory()) return statSync(full).mtimeMs
  return Math.max(0, ...readdirSync(full).map(entry => newest(join(path, entry))))
}

function run(program, words) {
  const { status, error } = spawnSync(program, words, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status === 0) return
  say(error === undefined ? `${program} ${words.join(' ')} failed` : error.message)
  process.exit(1)
}

function say(text) {
  process.stderr.write(`gpufare: ${text}\n`)
}
