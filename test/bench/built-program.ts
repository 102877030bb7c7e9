import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAll } from '../../scripts/build.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The program as it is published, built from the source at hand into a folder of its own; `cache` keeps its compiled code. */
export async function buildProgram(): Promise<{ readonly program: string; readonly cache: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'gpufare-built-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['bin', 'dist', 'cache']) mkdirSync(join(folder, name))
  symlinkSync(join(root, 'pricing-data'), join(folder, 'pricing-data'))
  const program = join(folder, 'bin/gpufare.js')
  copyFileSync(join(root, 'bin/gpufare.js'), program)
  // Node.js takes the kind of a file from the package.json above it.
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  copyFileSync(join(root, 'bin/package.json'), join(folder, 'bin/package.json'))
  await buildAll(join(folder, 'dist'))
  return { program, cache: join(folder, 'cache') }
}
