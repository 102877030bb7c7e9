import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/** The stages in order, files and folders of src/: each may import only what stands before it. */
const line = [
  'escaping',
  'errors',
  'finding',
  'globs',
  'own-entry',
  'once',
  'word-list',
  'history',
  'yaml',
  'gpu-hints',
  'units',
  'csv',
  'hash',
  'wanted-formats',
  'sourced',
  'programs',
  'terminal',
  'file-source',
  'state-files',
  'accounting',
  'git',
  'folder-files',
  'logs',
  'log-files',
  'kept-logs-schema',
  'kept-logs',
  'manifest-files',
  'document',
  'settings',
  'warning',
  'rulebook-schema',
  'policy-examples-schema',
  'rulebook',
  'config-schema',
  'config-check',
  'config',
  'declarations',
  'bash',
  'launchers',
  'command-lines',
  'serving-images',
  'job',
  'tags',
  'sessions',
  'pipe',
  'manifest',
  'rendering',
  'model',
  'dataset',
  'workload',
  'gpus-in-use',
  'training-work',
  'gpu',
  'manifests',
  'machine',
  'prices',
  'workloads',
  'spanning',
  'referred-files',
  'flops',
  'memory',
  'throughput',
  'pricing-data',
  'gpu-choices',
  'config-warnings',
  'placements',
  'obstacles',
  'candidates',
  'courses',
  'runtimes',
  'past-runs',
  'earlier-logs',
  'kubernetes-runs',
  'learnt-schema',
  'learnt',
  'past-corrections',
  'kept-runs',
  'log-warnings',
  'steadiness',
  'missing-facts',
  'quote',
  'session-costs',
  'cpu-machines',
  'fare',
  'quote-record',
  'stamp',
  'ledger-schema',
  'ledger',
  'ended-jobs-schema',
  'ended-jobs',
  'review',
  'exemptions',
  'budgets',
  'rules',
  'check-report',
  'integrations',
  'hooks',
  'quoted-manifests',
  'policy',
  'keyboard',
  'prompt',
  'schedulers',
  'kubernetes-allocations',
  'reporters',
  'checked-jobs',
  'spent',
  'breaches',
  'notify',
  'line-diff',
  'choice',
  'agreement',
  'recording',
  'source-configs',
  'check-request',
  'twins',
  'checked-files',
  'rendered-folders',
  'changed-manifests',
  'check-workers',
  'check',
  'probing',
  'outputs',
  'comments',
  'commands',
  'cli',
]

/** Stages that read files, ask people or run programs. All others compute and do nothing else. */
const edges = [
  'programs',
  'terminal',
  'file-source',
  'state-files',
  'accounting',
  'git',
  'folder-files',
  'config',
  'pipe',
  'manifest',
  'rendering',
  'pricing-data',
  'referred-files',
  'kubernetes-runs',
  'learnt',
  'past-corrections',
  'kept-logs',
  'kept-runs',
  'earlier-logs',
  'quoted-manifests',
  'keyboard',
  'prompt',
  'schedulers',
  'kubernetes-allocations',
  'choice',
  'spent',
  'breaches',
  'notify',
  'agreement',
  'ledger',
  'ended-jobs',
  'recording',
  'source-configs',
  'check-request',
  'checked-files',
  'rendered-folders',
  'changed-manifests',
  'check-workers',
  'check',
  'integrations',
  'hooks',
  'probing',
  'outputs',
  'comments',
  'log-files',
  'commands',
  'cli',
]

/** The one file of src/ that imports a package, and where several may, what their names look like. */
const homes: Readonly<Record<string, RegExp>> = {
  '@commander-js/extra-typings': /^cli\.ts$/,
  'node:child_process': /^programs\.ts$/,
  chalk: /^terminal\.ts$/,
  inquirer: /^prompt\.ts$/,
  ora: /^terminal\.ts$/,
  'smol-toml': /^settings\/index\.ts$/,
  'sql.js/dist/sql-wasm-inline.js': /^accounting\/mlflow-database\.ts$/,
  unbash: /^bash\/syntax\.ts$/,
  yaml: /^document\.ts$/,
  zod: /^(config|ledger|document)\.ts$|(^|[/-])schema\.ts$/,
  'zod/mini': /(^|[/-])schema\.ts$/,
}

interface Import {
  /** A file of src/ as its path there, or a package. */
  readonly from: string
  readonly onlyTypes: boolean
  readonly whenCalled: boolean
}

interface Source {
  readonly text: string
  readonly imports: readonly Import[]
}

const folder = fileURLToPath(new URL('../src', import.meta.url))
const sources: ReadonlyMap<string, Source> = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .sort()
    .map(file => [file, readSource(file)]),
)

function readSource(file: string): Source {
  const text = readFileSync(join(folder, file), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '')
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'"`;=]*?\sfrom\s+)?'([^']+)'/gm)
  const calls = text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g)
  return {
    text,
    imports: [
      ...Array.from(statements, ([, type, from = '']) => ({
        from: placeOf(file, from),
        onlyTypes: type !== undefined,
        whenCalled: false,
      })),
      ...Array.from(calls, ([, from = '']) => ({ from: placeOf(file, from), onlyTypes: false, whenCalled: true })),
    ],
  }
}

function placeOf(file: string, from: string): string {
  return from.startsWith('.') ? posix.normalize(posix.join(dirname(file), from)) : from
}

function stageOf(file: string): string {
  return file.split('/')[0]?.replace(/\.ts$/, '') ?? file
}

/** `[file, import]` of every import in src/. */
function allImports(): readonly (readonly [string, Import])[] {
  return [...sources].flatMap(([file, { imports }]) => imports.map(one => [file, one] as const))
}

/** Every file and package that is loaded together with `file`. */
function loadedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  for (const { from, onlyTypes, whenCalled } of sources.get(file)?.imports ?? []) {
    if (onlyTypes || whenCalled || found.has(from)) continue
    found.add(from)
    loadedWith(from, found)
  }
  return found
}

describe('arrows point up the line', () => {
  test('every file of src/ has a place in the line', () => {
    expect([...sources.keys()].filter(file => !line.includes(stageOf(file)))).toEqual([])
  })

  test('a stage imports what comes before it, never what comes after', () => {
    const backwards = allImports()
      .filter(([file, { from }]) => sources.has(from) && line.indexOf(stageOf(from)) > line.indexOf(stageOf(file)))
      .map(([file, { from }]) => `${file} imports ${from}`)
    expect(backwards).toEqual([])
  })

  test('every import within src/ leads to a file', () => {
    const nowhere = allImports()
      .filter(([, { from }]) => from.endsWith('.ts') && !sources.has(from))
      .map(([file, { from }]) => `${file} imports ${from}`)
    expect(nowhere).toEqual([])
  })

  test('no imports go in a circle, those of types included', () => {
    const circles: string[] = []
    const done = new Set<string>()
    const follow = (file: string, path: readonly string[]) => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      else if (!done.has(file)) {
        for (const { from } of sources.get(file)?.imports ?? []) follow(from, [...path, file])
        done.add(file)
      }
    }
    for (const file of sources.keys()) follow(file, [])
    expect(circles).toEqual([])
  })
})

/** Modules of Node.js that only compute. */
const computing = ['node:util', 'node:path']

describe('the middle is pure', () => {
  const pure = [...sources.keys()].filter(file => !edges.includes(stageOf(file)))

  test('it loads nothing of Node.js that reaches outside, itself or by what it imports', () => {
    const impure = pure.flatMap(file =>
      [...loadedWith(file)]
        .filter(from => from.startsWith('node:') && !computing.includes(from))
        .map(from => `${file} loads ${from}`),
    )
    expect(impure).toEqual([])
  })

  test('it asks neither the clock nor the environment, and writes to no stream', () => {
    const outside = /\bprocess\.|\bconsole\.|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bfetch\(|\bsetTimeout\(/
    expect(pure.filter(file => outside.test(sources.get(file)?.text ?? ''))).toEqual([])
  })
})

describe('each package has one home', () => {
  test('only its home imports a package', () => {
    const strays = allImports()
      .filter(([file, { from }]) => homes[from]?.test(file) === false)
      .map(([file, { from }]) => `${file} imports ${from}`)
    expect([...new Set(strays)]).toEqual([])
  })

  test('every package that is imported has a home', () => {
    const packages = allImports().map(([, { from }]) => from)
    const homeless = packages.filter(from => !/^node:|\.(ts|json)$/.test(from) && homes[from] === undefined)
    expect([...new Set(homeless)]).toEqual([])
  })
})

describe('load late', () => {
  test('cli.ts imports commander and nothing heavy', () => {
    const packages = [...loadedWith('cli.ts')].filter(from => !/\.(ts|json)$/.test(from))
    expect(packages).toEqual(['@commander-js/extra-typings'])
  })

  test('commands are imported when called', () => {
    const together = [...loadedWith('cli.ts')].filter(from => from.startsWith('commands/'))
    expect(together).toEqual([])
  })

  test('inquirer and ora are imported when somebody is asked or waits', () => {
    const commands = [...sources.keys()].filter(file => file.startsWith('commands/'))
    const early = commands.flatMap(file =>
      [...loadedWith(file)].filter(from => ['inquirer', 'ora'].includes(from)).map(from => `${file} loads ${from}`),
    )
    expect(early).toEqual([])
  })
})

describe('an extension point is a list', () => {
  // an interface file is named for its interface: manifest-format.ts declares ManifestFormat
  const extensions = [...sources].flatMap(([file, { text }]) => {
    const words = basename(file, '.ts').split('-')
    const name = words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
    const folder = dirname(file)
    const implementations = text.includes(`export interface ${name} {`) ? implementationsOf(name, folder) : []
    return implementations.length === 0 ? [] : [{ folder, implementations }]
  })

  test('every extension folder has its interface and implementations', () => {
    const folders = [
      'accounting',
      'comments',
      'logs',
      'manifests',
      'prices',
      'reporters',
      'rules',
      'runtimes',
      'schedulers',
      'workloads',
    ]
    expect(extensions.map(({ folder }) => folder).sort()).toEqual(folders)
  })

  test.each(extensions)('every implementation in $folder is in the list of its index.ts', extension => {
    const index = sources.get(`${extension.folder}/index.ts`)?.text ?? ''
    const lists = index.matchAll(/^(?:export )?const \w+(?:: [^=]+)? = (?:\(\) => )?\[([^\]]*)\]/gm)
    const listed = Array.from(lists, ([, list = '']) => list.split(',').map(one => one.trim())).flat()
    expect(extension.implementations.filter(name => !listed.includes(name))).toEqual([])
  })
})

/** Names of the objects in a folder that are declared to be of an interface. */
function implementationsOf(name: string, folder: string): readonly string[] {
  const declared = new RegExp(`^export const (\\w+): ${name}\\b`, 'gm')
  const files = [...sources].filter(([file]) => file.startsWith(`${folder}/`))
  return files.flatMap(([, { text }]) => Array.from(text.matchAll(declared), ([, one = '']) => one))
}
