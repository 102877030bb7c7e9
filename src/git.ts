import { existsSync } from 'node:fs'
import { dirname, join, posix, resolve } from 'node:path'
import { GpufareError } from './errors.ts'
import { diskFiles, type FileReading, type FileSource, tooLarge } from './file-source.ts'
import { type Answer, askProgram, ProgramNotFound } from './programs.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** A git repository, of which only the files of its work tree and what git says are known. */
export interface Repository {
  /** Top folder of the work tree. */
  readonly root: string
  readonly environment: Environment
}

/** One way in which a file differs between two states; a rename is a file gone and a new one. */
export interface FileChange {
  readonly path: string
  readonly kind: 'added' | 'deleted' | 'modified'
}

/** Which state of a repository is looked at. */
export type Head = { readonly revision: string } | 'index' | 'work tree'

/** A file source that can say what is in it. */
export interface ListedSource extends FileSource {
  /** Regular files, in git's order. */
  readonly paths: readonly string[]
  /** Those of a work tree that git does not track. */
  readonly untracked?: readonly string[]
}

/** Git answers within milliseconds; a large repository on a slow disk may take longer, a disk that hangs must not hang us. */
const patienceMilliseconds = 120_000

/**
 * A repository is not trusted, nor is its configuration: no hook, monitor or filter of it is run, nothing is fetched, no lock is
 * taken, and the work tree is the folder with `.git` in it, whatever `core.worktree` says.
 */
const guards = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'protocol.allow=never']
const guardVariables = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  LC_ALL: 'C',
  // set by git for its hooks, and meant for another folder
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_PREFIX: undefined,
  GIT_EXTERNAL_DIFF: undefined,
}

/** The repository that a folder lies in; undefined where it is in none. */
export function findRepository(folder: string, environment: Environment): Repository | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return { root: at, environment }
    if (dirname(at) === at) return undefined
  }
}

/**
 * The commit that a name means, as its hash. A name of zeros only, which git gives where there was nothing before (a new
 * branch), is the empty tree. Throws GpufareError where there is no such revision.
 */
export async function resolveRevision(repository: Repository, name: string): Promise<string> {
  if (/^0{40}(0{24})?$/.test(name)) return emptyTree(repository)
  const words = ['rev-parse', '--verify', '--quiet', '--end-of-options']
  const commit = await ask(repository, [...words, `${name}^{commit}`])
  if (commit.exitCode === 0) return commit.stdout.trim()
  const tree = await ask(repository, [...words, `${name}^{tree}`])
  if (tree.exitCode === 0) return tree.stdout.trim()
  refuseOnOwnership(tree)
  throw new GpufareError(
    `${name}: there is no such revision in ${repository.root}`,
    2,
    await hintForMissing(repository),
  )
}

/**
 * The newest commit that two revisions have in common; a tree, which has none, is its own. Throws GpufareError where there is no
 * such commit or no such revision.
 */
export async function mergeBase(repository: Repository, base: string, head: string): Promise<string> {
  const answer = await ask(repository, ['merge-base', '--end-of-options', base, head])
  if (answer.exitCode === 0) return answer.stdout.trim()
  const revision = await resolveRevision(repository, base)
  if (!(await isCommit(repository, revision))) return revision
  await resolveRevision(repository, head)
  throw new GpufareError(
    `${base} and ${head} have no commit in common that is here`,
    2,
    (await isShallow(repository)) ? shallowHint : 'to compare with the very revision add --exact',
  )
}

/** Whether a revision has a commit to compare with: the empty tree has none. */
async function isCommit(repository: Repository, revision: string): Promise<boolean> {
  const { exitCode, stdout } = await ask(repository, ['cat-file', '-t', revision])
  return exitCode === 0 && stdout.trim() === 'commit'
}

/** The files of a revision, read from git's objects. */
export async function revisionFiles(repository: Repository, revision: string): Promise<ListedSource> {
  const { stdoutBytes } = await demand(repository, ['ls-tree', '-r', '-z', '--full-tree', revision])
  return new ObjectFiles(
    repository,
    entriesOf(stdoutBytes, ([mode = '', , hash = '']) => ({ mode, hash })),
  )
}

/** The files as they are staged, read from git's objects. */
export async function indexFiles(repository: Repository): Promise<ListedSource> {
  const { stdoutBytes } = await demand(repository, ['ls-files', '--stage', '-z'])
  return new ObjectFiles(
    repository,
    entriesOf(stdoutBytes, ([mode = '', hash = '']) => ({ mode, hash })),
  )
}

/** The files of the work tree: what git tracks, and what it neither tracks nor ignores. */
export async function workTreeFiles(repository: Repository): Promise<ListedSource> {
  const listing = ['ls-files', '-t', '--cached', '--others', '--exclude-standard', '-z']
  const { stdoutBytes } = await demand(repository, listing)
  const lines = decodeNames(stdoutBytes)
  const isUntracked = (line: string) => line.startsWith('? ')
  const pathIn = (line: string) => line.slice('? '.length)
  return {
    ...diskFiles(repository.root, oddNamesIn(stdoutBytes)),
    // one that is in conflict is listed once for each side
    paths: [...new Set(lines.map(pathIn))],
    untracked: lines.filter(isUntracked).map(pathIn),
  }
}

/** The bytes of names that are not UTF-8 and so can't be asked for by their text. */
function oddNamesIn(listing: Uint8Array): ReadonlyMap<string, Buffer> {
  if (decodeWhole(listing) !== undefined) return new Map()
  const names = splitAtNul(listing).map(line => line.subarray('? '.length))
  return new Map(names.filter(name => decodeWhole(name) === undefined).map(name => [decodeName(name), name]))
}

/** What differs between a revision and another one, the index or the work tree with the files that git does not track. */
export async function changedFiles(
  repository: Repository,
  base: string,
  head: Head,
  untracked: readonly string[] = [],
): Promise<readonly FileChange[]> {
  const how = ['--raw', '-r', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=all']
  const words =
    typeof head === 'object'
      ? ['diff-tree', ...how, base, head.revision]
      : ['diff-index', ...how.filter(word => word !== '-r'), ...(head === 'index' ? ['--cached'] : []), base]
  const asked = head === 'work tree' ? await withoutFilters(repository) : repository
  const changes = readRawDiff((await demand(asked, [...words, '--'])).stdoutBytes)
  return [...changes, ...untracked.map(path => ({ path, kind: 'added' as const }))]
}

/**
 * The repository with its filters switched off: git would run them on files of the work tree whose time does not tell whether
 * they changed. Set by variables, since a filter's name may hold what an option cannot.
 */
async function withoutFilters(repository: Repository): Promise<Repository> {
  const { stdout } = await ask(repository, ['config', '-z', '--name-only', '--get-regexp', '^filter\\.'])
  const names = new Set(stdout.split('\0').flatMap(key => /^filter\.(.*)\.[^.]*$/s.exec(key)?.[1] ?? []))
  const settings = [...names].flatMap(name => [
    [`filter.${name}.clean`, ''],
    [`filter.${name}.process`, ''],
    [`filter.${name}.required`, 'false'],
  ])
  const variables = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  const count = { GIT_CONFIG_COUNT: String(settings.length) }
  return { ...repository, environment: { ...repository.environment, ...count, ...Object.fromEntries(variables) } }
}

/** Files that hold one of these texts, of a revision or, without one, of the work tree; in `paths` where they are given. */
export async function filesHolding(
  repository: Repository,
  texts: readonly string[],
  head: Head,
): Promise<readonly string[]> {
  const where = typeof head === 'object' ? [head.revision] : head === 'index' ? ['--cached'] : ['--untracked']
  const patterns = texts.flatMap(text => ['-e', text])
  const how = ['-l', '-z', '-I', '-F', '--no-textconv', '--no-recurse-submodules', '--full-name']
  const answer = await ask(repository, ['grep', ...how, ...patterns, ...where])
  if (answer.exitCode > 1) throw failed(answer, 'grep')
  const prefix = typeof head === 'object' ? `${head.revision}:` : ''
  return decodeNames(answer.stdoutBytes).map(name => name.slice(prefix.length))
}

interface Entry {
  readonly mode: string
  readonly hash: string
}

const linkMode = '120000'
const fileModes: ReadonlySet<string> = new Set(['100644', '100755', '100664'])
/** Links that lead to links: more is a circle (ELOOP of Linux). */
const mostLinks = 40

/** Files read from git's objects, many by one call. */
class ObjectFiles implements ListedSource {
  readonly root: string
  readonly paths: readonly string[]
  private readonly repository: Repository
  private readonly entries: ReadonlyMap<string, Entry>
  /** What was fetched last, by hash. */
  private readonly objects = new Map<string, FileReading>()
  private readonly noted = new Map<string, number>()

  constructor(repository: Repository, entries: ReadonlyMap<string, Entry>) {
    this.repository = repository
    this.root = repository.root
    this.entries = entries
    this.paths = [...entries].filter(([, { mode }]) => fileModes.has(mode)).map(([path]) => path)
  }

  has(path: string): boolean {
    return this.entries.has(path)
  }

  read(path: string, largestBytes: number): FileReading {
    const entry = this.follow(path, largestBytes)
    if (entry === undefined) return { notRead: 'not found beside the manifest' }
    if (!fileModes.has(entry.mode)) return { notRead: 'not a file' }
    return this.object(entry.hash, largestBytes)
  }

  async fetch(): Promise<boolean> {
    const wanted = [...this.noted]
    this.noted.clear()
    if (wanted.length === 0) return false
    const found = await readObjects(this.repository, wanted)
    for (const [hash] of wanted) this.objects.set(hash, found.get(hash) ?? { notRead: 'it cannot be read' })
    return true
  }

  forget(): void {
    this.objects.clear()
  }

  /** What stands at a path behind its links, folders that are links included; undefined where they lead nowhere or out of it. */
  private follow(path: string, largestBytes: number): Entry | undefined {
    let at = posix.normalize(path)
    for (let links = 0; links < mostLinks; links++) {
      const parts = at.split('/')
      const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
      const link = prefixes.find(prefix => this.entries.get(prefix)?.mode === linkMode)
      if (link === undefined) return this.entries.get(at)
      const target = this.object(this.entries.get(link)?.hash ?? '', largestBytes)
      if ('notRead' in target) return undefined
      const way = Buffer.from(target.bytes).toString()
      if (way.startsWith('/')) return undefined
      at = posix.join(dirname(link), way, at.slice(link.length))
      if (at === '..' || at.startsWith('../')) return undefined
    }
    return undefined
  }

  private object(hash: string, largestBytes: number): FileReading {
    const known = this.objects.get(hash)
    if (known !== undefined) return known
    this.noted.set(hash, largestBytes)
    return { notRead: 'not found beside the manifest' }
  }
}

async function readObjects(
  repository: Repository,
  wanted: readonly (readonly [hash: string, largestBytes: number])[],
): Promise<ReadonlyMap<string, FileReading>> {
  const readings = new Map<string, FileReading>()
  const sizes = await demand(
    repository,
    ['cat-file', '--batch-check=%(objectname) %(objectsize)'],
    wanted.map(([hash]) => hash),
  )
  const limits = new Map(wanted)
  const small: string[] = []
  for (const line of sizes.stdout.split('\n')) {
    const [hash = '', size = ''] = line.split(' ')
    const limit = limits.get(hash)
    if (limit === undefined) continue
    if (size === 'missing') readings.set(hash, { notRead: 'its content is not in this partial clone' })
    else if (Number(size) > limit) readings.set(hash, tooLarge(limit))
    else small.push(hash)
  }
  if (small.length === 0) return readings
  const { stdoutBytes } = await demand(repository, ['cat-file', '--batch=%(objectsize)'], small)
  const bytes = Buffer.from(stdoutBytes.buffer, stdoutBytes.byteOffset, stdoutBytes.length)
  let at = 0
  for (const hash of small) {
    const start = bytes.indexOf('\n', at) + 1
    const end = start + Number(bytes.toString('latin1', at, start - 1))
    // a copy, so that one small file does not keep all the others in memory
    readings.set(hash, { bytes: Buffer.from(bytes.subarray(start, end)) })
    at = end + 1
  }
  return readings
}

/** `MODE TYPE HASH\tPATH` or the like, each ended by NUL. */
function entriesOf(listing: Uint8Array, entryOf: (words: readonly string[]) => Entry): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const line of decodeNames(listing)) {
    const tab = line.indexOf('\t')
    entries.set(line.slice(tab + 1), entryOf(line.slice(0, tab).split(' ')))
  }
  return entries
}

/** `:MODE MODE HASH HASH STATUS`, NUL, path, NUL (git-diff-index(1), "Raw output format"). */
function readRawDiff(output: Uint8Array): readonly FileChange[] {
  const parts = decodeNames(output)
  const changes: FileChange[] = []
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const status = parts[index]?.split(' ').at(-1)
    changes.push({
      path: parts[index + 1] ?? '',
      kind: status === 'A' ? 'added' : status === 'D' ? 'deleted' : 'modified',
    })
  }
  return changes
}

/** The lines of a listing, each ended by NUL, as text. Those of ten thousand names are decoded at once. */
function decodeNames(listing: Uint8Array): readonly string[] {
  return decodeWhole(listing)?.split('\0').slice(0, -1) ?? splitAtNul(listing).map(decodeName)
}

function splitAtNul(output: Uint8Array): readonly Buffer[] {
  const bytes = Buffer.from(output.buffer, output.byteOffset, output.length)
  const parts: Buffer[] = []
  let start = 0
  for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
    parts.push(bytes.subarray(start, end))
    start = end + 1
  }
  return parts
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined for what is not UTF-8. */
function decodeWhole(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** A name as text; the bytes of one that is not UTF-8 as `\xE9`. */
function decodeName(name: Uint8Array): string {
  const unit = (byte: number) =>
    byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`
  return decodeWhole(name) ?? Array.from(name, unit).join('')
}

async function emptyTree(repository: Repository): Promise<string> {
  return (await demand(repository, ['hash-object', '-t', 'tree', '--stdin'])).stdout.trim()
}

const shallowHint =
  'the clone is shallow: fetch its history first, with fetch-depth: 0 in actions/checkout, GIT_DEPTH: 0 in GitLab CI, or git fetch --unshallow'

async function hintForMissing(repository: Repository): Promise<string> {
  return (await isShallow(repository))
    ? shallowHint
    : 'git log --oneline shows revisions, git fetch brings those of a remote'
}

async function isShallow(repository: Repository): Promise<boolean> {
  return (await ask(repository, ['rev-parse', '--is-shallow-repository'])).stdout.trim() === 'true'
}

/** As `ask`, where git must succeed. */
async function demand(
  repository: Repository,
  words: readonly string[],
  lines: readonly string[] = [],
): Promise<Answer> {
  const answer = await ask(repository, words, lines)
  if (answer.exitCode === 0) return answer
  refuseOnOwnership(answer)
  throw failed(answer, words[0] ?? '')
}

function failed({ stderr, timedOut }: Answer, command: string): GpufareError {
  const [said = 'it gave no reason'] = stderr.split('\n').filter(line => line !== '')
  return new GpufareError(`git ${command} ${timedOut ? 'did not answer' : `failed: ${said}`}`, 1)
}

/** In a container the repository often belongs to somebody else, which git refuses to read. */
function refuseOnOwnership({ stderr }: Answer): void {
  if (!stderr.includes('dubious ownership')) return
  const command = /git config .*safe\.directory .*/.exec(stderr)?.[0]
  throw new GpufareError(
    'git refuses a repository that belongs to another user',
    2,
    command && `to allow it: ${command}`,
  )
}

async function ask(
  { root, environment }: Repository,
  words: readonly string[],
  lines: readonly string[] = [],
): Promise<Answer> {
  try {
    return await askProgram(
      'git',
      ['-C', root, '--no-pager', '--literal-pathspecs', `--work-tree=${root}`, ...guards, ...words],
      {
        environment: { ...environment, ...guardVariables },
        timeoutMilliseconds: patienceMilliseconds,
        input: Buffer.from(lines.map(line => `${line}\n`).join('')),
      },
    )
  } catch (error) {
    throw error instanceof ProgramNotFound ? error.withHint('revisions and the index are read by it') : error
  }
}
