// npm test: installs and builds what is missing, runs vitest with the words given, and closes with
// "N passed, N failed, N skipped". With --servers-required a test that was skipped counts as failed.
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

if (skipped.length > 0) {
  console.log(serversRequired ? '\nSkipped, which counts as failed here:' : '\nSkipped:')
  for (const suite of new Set(skipped.map(test => test.ancestorTitles[0] ?? test.title))) console.log(`  ${suite}`)
  console.log(
    '`npm run servers:up` brings up the real Slurm and Kubernetes that such tests need (on Debian, as root, with Go 1.26).\n',
  )
}
const failures = serversRequired ? failed + skipped.length : failed
const rest = serversRequired || skipped.length === 0 ? '' : `, ${skipped.length} skipped`
process.exitCode = failures === 0 ? 0 : 1
console.log(`${passed} passed, ${failures} failed${rest}`)

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
    skipped: tests.filter(test => test.status !== 'passed' && test.status !== 'failed'),
  }
}
