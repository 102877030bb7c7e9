// npm start: installs and builds what is missing, then quotes an example; npm start -- WORDS... runs `gpufare WORDS...`
// where you stand.
import { spawnSync } from 'node:child_process'
import { join, relative } from 'node:path'
import { prepare, root } from './prepare.js'

if (!prepare()) process.exit(1)
const standing = process.env.INIT_CWD ?? process.cwd()
const given = process.argv.slice(2)
const example = relative(standing, join(root, 'test/cases/example/train.sbatch'))
const main = process.stdin.isTTY && process.stderr.isTTY ? ['submit', '--dry-run', example] : ['estimate', example]
const words = given.length > 0 ? given : main
process.stderr.write(`$ gpufare ${words.join(' ')}\n\n`)
const { status } = spawnSync(process.execPath, [join(root, 'bin/gpufare.js'), ...words], {
  cwd: standing,
  stdio: 'inherit',
})
process.exitCode = status ?? 130
