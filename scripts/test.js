// npm test: installs and builds what is missing, runs vitest with the words given, and closes with
// "N passed, N failed, N skipped". With --servers-required a test that misses a real server counts as failed.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { prepare, root } from './prepare.js'

if (!prepare()) {
  console.log('0 passed, 1 failed')
  process.exit(1)
}
const serversRequired = process.argv.includes('--servers-required')
const words = process.argv.slice(2).filter(word => word !== '--servers-required')
const record = join(root, '.vitest/tests.json')
rmSync(record, { force: true })
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${record}`,
    ...words,
  ],
  { cwd: root, stdio: 'inherit' },
)
const { passed, failed, skipped } = count()
// describeSlurm and describeKubernetes in test/servers/state.ts give such names; others say what would help
const unserved = skipped.filter(name => /^real (Slurm|Kubernetes): |npm run servers:up/.test(name))
const unexpected = serversRequired ? unserved.length : 0

if (skipped.length > 0) {
  console.log('\nSkipped:')
  for (const name of new Set(skipped)) console.log(`  ${name}`)
}
if (unserved.length > 0) {
  console.log(
    serversRequired
      ? 'The servers should be up, so tests that miss them count as failed.\n'
      : '`npm run servers:up` brings up what the real ones need (on Debian, as root, with Go 1.26 or newer).\n',
  )
}
const rest = skipped.length > unexpected ? `, ${skipped.length - unexpected} skipped` : ''
process.exitCode = failed + unexpected === 0 ? 0 : 1
console.log(`${passed} passed, ${failed + unexpected} failed${rest}`)

/** From vitest's own record. A file that could not be loaded, or a run that broke off, is one failure. */
function count() {
  let files
  try {
    files = JSON.parse(readFileSync(record, 'utf8')).testResults
  } catch {
    return { passed: 0, failed: 1, skipped: [] }
  }
  const tests = files.flatMap(file => file.assertionResults)
  const failed = tests.filter(test => test.status === 'failed').length
  const broken = files.filter(
    file => file.status === 'failed' && !file.assertionResults.some(test => test.status === 'failed'),
  ).length
  return {
    passed: tests.filter(test => test.status === 'passed').length,
    failed: Math.max(failed + broken, status === 0 ? 0 : 1),
    skipped: tests
      .filter(test => test.status !== 'passed' && test.status !== 'failed')
      .map(test => test.ancestorTitles[0] ?? test.title),
  }
}
