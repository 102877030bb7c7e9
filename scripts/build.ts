/**
 * Builds what is published. dist/ holds bundles, each a function as Node.js wraps it around a CommonJS module (that starts
 * quicker than ESM, and bin/gpufare.js starts it from a code cache):
 * - NAME.js for each command: the program with this command alone; gpufare.js: with every command;
 * - late/NAME.js: what not every run needs.
 * And beside them help.json: version and help texts, answered without the program; schemas/: JSON Schemas of gpufare.yaml and
 * of --format json; integrations/: files that others run or read; THIRD-PARTY-LICENSES.txt.
 */
import { createHash } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import packageJson from '../package.json' with { type: 'json' }
import { helpTexts } from '../src/cli.ts'
import { configJsonSchema } from '../src/config-schema.ts'
import { learnJsonSchema } from '../src/logs/schema.ts'
import { budgetJsonSchema } from '../src/reporters/budget-schema.ts'
import { checkJsonSchema } from '../src/reporters/check-schema.ts'
import { reportJsonSchema } from '../src/reporters/schema.ts'
import { reviewJsonSchema } from '../src/review/schema.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Modules that cost milliseconds, and that not every run needs, by the names of their bundles: a batch script needs no YAML and no
 * zod, which the schemas bring, a job without logs of earlier runs no readers of them, and a report without colour no chalk.
 */
const lateModules: Readonly<Record<string, string>> = {
  chalk: 'chalk',
  csv: join(root, 'src/reporters/csv.ts'),
  'comments-schema': join(root, 'src/comments/schema.ts'),
  'config-schema': join(root, 'src/config-schema.ts'),
  html: join(root, 'src/reporters/html.ts'),
  inquirer: 'inquirer',
  'kubernetes-schema': join(root, 'src/manifests/kubernetes/schema.ts'),
  'log-readers': join(root, 'src/logs/earlier-run.ts'),
  markdown: join(root, 'src/reporters/markdown.ts'),
  ora: 'ora',
  'skypilot-schema': join(root, 'src/manifests/skypilot/schema.ts'),
  'smol-toml': 'smol-toml',
  sqlite: 'sql.js/dist/sql-wasm-inline.js',
  'accounting-schema': join(root, 'src/accounting/schema.ts'),
  'kubernetes-objects-schema': join(root, 'src/accounting/kubernetes-schema.ts'),
  'kept-logs': join(root, 'src/kept-logs.ts'),
  'kept-runs': join(root, 'src/accounting/kept.ts'),
  'past-corrections': join(root, 'src/past-corrections.ts'),
  'past-runs': join(root, 'src/past-runs.ts'),
  yaml: 'yaml',
}
/** Node.js's own that bring the network modules with them. */
const lateBuiltins = ['node:child_process', 'node:tty']

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  // bin/gpufare.js reads bundles as Latin-1
  charset: 'ascii',
  // import() throws in code that starts from a cache, so it becomes require()
  supported: { 'dynamic-import': false },
  // a third fewer bytes to read at every start; a trace in a report still tells line and column of a build that can be made again
  minify: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  define: { 'import.meta.dirname': '__dirname' },
  banner: { js: '(function (exports, require, module, __filename, __dirname) {"use strict";' },
  footer: { js: '})' },
} satisfies BuildOptions

/** Builds everything into the folder `dist` and answers with what each file was made of. */
export async function buildAll(dist: string): Promise<ReadonlyMap<string, Metafile>> {
  const help = helpTexts()
  const commands = Object.keys(help).filter(name => name !== '')
  const built = await Promise.all([
    bundle(dist, 'gpufare', 'src/cli.ts', [loadedLate]),
    ...commands.map(name => bundle(dist, name, 'src/cli.ts', [onlyCommand(name), loadedLate])),
    ...Object.entries(lateModules).map(([name, path]) => bundle(dist, `late/${name}`, path, [])),
  ])
  await writeFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), await licences(built.map(([, metafile]) => metafile)))
  await cp(join(root, 'src/integrations'), join(dist, 'integrations'), { recursive: true })
  await mkdir(join(dist, 'schemas'))
  const schemas = {
    gpufare: configJsonSchema(),
    'gpufare-report': reportJsonSchema(),
    'gpufare-check': checkJsonSchema(),
    'gpufare-learn': learnJsonSchema(),
    'gpufare-budget': budgetJsonSchema(),
    'gpufare-review': reviewJsonSchema(),
  }
  for (const [name, schema] of Object.entries(schemas)) {
    await writeFile(join(dist, 'schemas', `${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`)
  }
  await writeFile(join(dist, 'help.json'), JSON.stringify({ version: packageJson.version, texts: help }))
  return new Map(built)
}

async function bundle(dist: string, name: string, entry: string, plugins: Plugin[]): Promise<[string, Metafile]> {
  const outfile = join(dist, `${name}.js`)
  const { metafile } = await build({ ...shared, outfile, entryPoints: [entry], plugins })
  const source = escapeNonAscii(await readFile(outfile, 'utf8'))
  // by its hash bin/gpufare.js tells whether a code cache is of this very bundle
  await writeFile(outfile, `${source}//${createHash('sha256').update(source).digest('hex')}`)
  return [name, metafile]
}

/** esbuild writes ASCII but for regular expressions, where an escape means the same. */
function escapeNonAscii(source: string): string {
  return source.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Leaves out every command but one: the others' imports in cli.ts are never reached. */
function onlyCommand(name: string): Plugin {
  return {
    name: 'only-command',
    setup(build) {
      build.onResolve({ filter: /^\.\/commands\// }, ({ path, kind }) =>
        kind !== 'dynamic-import' || basename(path, '.ts') === name ? undefined : { path, namespace: 'left-out' },
      )
      build.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({
        contents: `throw new Error(${JSON.stringify(`${path} is not in the bundle of ${name}`)})`,
      }))
    },
  }
}

/** Loads late modules when something of theirs is first used. */
const loadedLate: Plugin = {
  name: 'loaded-late',
  setup(build) {
    const late = new Map([
      ...Object.entries(lateModules).map(([name, path]) => [path, `./late/${name}`] as const),
      ...lateBuiltins.map(name => [name, name] as const),
    ])
    build.onResolve({ filter: /.*/ }, ({ path, resolveDir, namespace }) => {
      if (namespace === 'loaded-late') return { path, external: true }
      const module = path.startsWith('.') ? join(resolveDir, path) : path
      return late.has(module) ? { path: module, namespace: 'loaded-late' } : undefined
    })
    build.onLoad({ filter: /.*/, namespace: 'loaded-late' }, async ({ path }) => ({
      contents: [
        `let loaded; const late = () => loaded ??= require('${late.get(path)}')`,
        // Node's way with CommonJS: a default import is all that is exported, so it has to be what the default export is.
        `module.exports = (...given) => late().default(...given)`,
        `Object.defineProperty(module.exports, '__esModule', { value: true })`,
        ...Object.keys(await import(path)).map(
          name => `Object.defineProperty(module.exports, '${name}', { enumerable: true, get: () => late().${name} })`,
        ),
      ].join('\n'),
    }))
  },
}

/** The packages of which something is in a bundle, as folders. */
export function packagesOf(metafile: Metafile): readonly string[] {
  const inputs = Object.values(metafile.outputs).flatMap(output => Object.entries(output.inputs))
  const files = inputs
    .filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && !file.includes(':'))
    .map(([file]) => file)
  const folders = files.map(file => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1])
  return [...new Set(folders.filter(folder => folder !== undefined))].sort()
}

/** Name, version and licence text of every package that is in the bundles. */
async function licences(metafiles: readonly Metafile[]): Promise<string> {
  const folders = [...new Set(metafiles.flatMap(packagesOf))].sort()
  const notices = folders.map(async folder => {
    const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'))
    const file = (await readdir(join(root, folder))).find(entry => /^(licen[cs]e|copying)/i.test(entry))
    if (file === undefined) throw new Error(`${folder} has no licence file, which must be passed on with its code`)
    return `${name} ${version} (${license})\n\n${(await readFile(join(root, folder, file), 'utf8')).trim()}\n`
  })
  const rule = `\n${'-'.repeat(80)}\n\n`
  return ['gpufare contains these packages, each under its own licence.\n', ...(await Promise.all(notices))].join(rule)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dist = join(root, 'dist')
  // made aside, so that a build that fails or is stopped leaves the old one as it was
  const made = await mkdtemp(`${dist}-`)
  try {
    await buildAll(made)
    await rm(dist, { recursive: true, force: true })
    await chmod(made, 0o755)
    await rename(made, dist)
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}
