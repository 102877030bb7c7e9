import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { ConfigFile } from './config-schema.ts'
import type { YamlDocument } from './document.ts'
import { describePlace, InputError, type Place, systemReason } from './errors.ts'
import { type Budget, budgetOf, exemptionOf, type Policy, policyOf, type WrittenExemption } from './rulebook.ts'
import { type Sourced, sourced } from './sourced.ts'
import { type Currency, usDollars } from './units.ts'

/** A partition or node pool: equal machines of a cluster, and what their GPUs cost. */
export interface Pool {
  /** Slurm partition, or a name for the Kubernetes node pool. */
  readonly name: string
  /** GPU type as the file spells it; any name that gpus.csv knows. */
  readonly gpu: string
  readonly gpusPerNode: number
  readonly nodes?: number
  /** The site's own rate, US dollars per GPU-hour. */
  readonly usdPerGpuHour?: Sourced<number>
  /** A rented machine behind the pool: priced by the price table. */
  readonly machine?: { readonly provider: string; readonly instanceType: string; readonly region: string }
  readonly spot: boolean
  /** The names in it that tables have to know, with their lines. */
  readonly names?: { readonly gpu: Sourced<string>; readonly instanceType?: Sourced<string> }
  /** How Slurm calls the GPU in `--gres=gpu:TYPE:n`; absent = untyped. */
  readonly gresType?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  /** Kubernetes resource name. */
  readonly resourceName: string
}

/** A cluster that jobs go to. */
export interface Cluster {
  readonly name: string
  readonly scheduler: 'slurm' | 'kubernetes'
  /** Kube context it stands for; absent = any. */
  readonly context?: string
  readonly pools: readonly Pool[]
}

/** A glob, and the folder it starts from. */
export interface PassedOver {
  readonly glob: string
  readonly folder: string
}

/** gpufare.yaml: the files of repository, user and site laid over each other, the nearer one first. */
export interface Config {
  readonly files: readonly string[]
  readonly clusters: readonly Cluster[]
  /** Candidates to consider, as written: `l40s`, `8xt4`. */
  readonly candidates: readonly Sourced<string>[]
  /** Clouds whose list prices are shown, in order of preference. */
  readonly providers: readonly string[]
  readonly regions: readonly string[]
  readonly currency: Currency
  /** Taken off list prices, 0 to 1. */
  readonly discount?: Sourced<number>
  /** P90 total in US dollars under which no question is asked. */
  readonly askAboveUsd?: Sourced<number>
  readonly team?: Sourced<string>
  readonly costCenter?: Sourced<string>
  readonly tags: Readonly<Record<string, string>>
  /** Whether the scheduler keeps the quote beside the job; it does where nothing is said. */
  readonly stamp?: Sourced<'on' | 'off'>
  /** Of all files together: a nearer file adds to the others' policies and takes none away. */
  readonly policies: readonly Policy[]
  readonly budgets: readonly Budget[]
  readonly exemptions: readonly WrittenExemption[]
  /** Program and arguments to run when a budget is crossed. */
  readonly notify?: readonly string[]
  /** Globs of files that `gpufare check` passes over, from the folder of the file that says so. */
  readonly passedOver: readonly PassedOver[]
  /** Settings that were found and do not count, and why. */
  readonly ignored: readonly string[]
}

/** Where configuration is looked for beside the manifest's own folders. */
export interface ConfigHomes {
  /** The user's file, `~/.config/gpufare/gpufare.yaml`. */
  readonly user: string
  /** The site's file, `/etc/gpufare/gpufare.yaml`. */
  readonly site: string
}

const fileName = 'gpufare.yaml'

/** A configuration that says nothing. */
export const emptyConfig: Config = {
  files: [],
  clusters: [],
  candidates: [],
  providers: [],
  regions: [],
  currency: usDollars,
  tags: {},
  policies: [],
  budgets: [],
  exemptions: [],
  passedOver: [],
  ignored: [],
}

/** The user's and the site's file, from the environment (XDG Base Directory Specification). */
export function configHomes(environment: Readonly<Record<string, string | undefined>>): ConfigHomes {
  const home = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] ?? '/', '.config')
  return { user: join(home, 'gpufare', fileName), site: '/etc/gpufare/gpufare.yaml' }
}

/** A configuration file that counts, and whether it may set what a repository can't. */
export interface ConfigPath {
  readonly path: string
  readonly trusted: boolean
  /** Its text, where it lies in a revision and not on the disk. */
  readonly text?: string
}

/**
 * The files that count for a manifest in `folder`: its own folder's or the next one upward within the repository, then
 * the user's, then the site's. `chosen` (`--config FILE`) stands in for the repository's, and may set no more than that: a
 * script that a repository brings can name a file of its own.
 */
export function findConfigs(folder: string, homes: ConfigHomes, chosen?: string): readonly ConfigPath[] {
  const near = chosen ?? findUpward(resolve(folder), fileName)
  return [
    ...(near === undefined ? [] : [{ path: near, trusted: [homes.user, homes.site].includes(resolve(near)) }]),
    ...findUserConfigs(homes, near === undefined ? [] : [near]),
  ]
}

/** The user's and the site's file, as far as they are there and not among those that are read already. */
export function findUserConfigs(homes: ConfigHomes, read: readonly string[]): readonly ConfigPath[] {
  return [homes.user, homes.site]
    .filter(path => !read.includes(path) && existsSync(path))
    .map(path => ({ path, trusted: true }))
}

/** The files laid over each other, the nearer first. Throws InputError with every fault of a file. */
export async function readConfigs(paths: readonly ConfigPath[]): Promise<Config> {
  if (paths.length === 0) return emptyConfig
  // Loaded late: the schema costs start-up time that a run without a configuration need not pay.
  const [{ readYaml }, { checkConfig }] = await Promise.all([import('./document.ts'), import('./config-check.ts')])
  return paths
    .flatMap(({ path, trusted, text }) =>
      readYaml(text ?? readConfigText(path), path, 'yaml-1.2')
        .slice(0, 1)
        .map(document => configOf(checkConfig(document), document, path, trusted)),
    )
    .reduceRight((far, nearer) => layOver(nearer, far), emptyConfig)
}

function readConfigText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new InputError([
      { place: { file: path }, message: `the configuration can't be read: ${systemReason(error)}` },
    ])
  }
}

/** The nearest file of a name at or above a folder, not above the root of its git repository. */
export function findUpward(folder: string, name: string): string | undefined {
  const path = join(folder, name)
  if (existsSync(path)) return path
  const parent = dirname(folder)
  return parent === folder || existsSync(join(folder, '.git')) ? undefined : findUpward(parent, name)
}

function configOf(file: ConfigFile, document: YamlDocument, path: string, trusted: boolean): Config {
  const currency =
    file.currency === undefined
      ? usDollars
      : {
          code: file.currency.code,
          perUsd: file.currency['per-usd'],
          source: describePlace(document.placeOf(['currency', 'per-usd'])),
        }
  const from = <T>(value: T, ...keys: (string | number)[]): Sourced<T> =>
    sourced(value, { kind: 'config', place: document.placeOf(keys) })
  const askAbove = file['ask-above']
  const row = (...keys: (string | number)[]) => ({ currency, place: document.placeOf(keys), trusted })
  return {
    files: [path],
    clusters: (file.clusters ?? []).map((cluster, index) =>
      clusterOf(cluster, currency, (value, ...keys) => from(value, 'clusters', index, ...keys)),
    ),
    candidates: (file.candidates ?? []).map((name, index) => from(name, 'candidates', index)),
    providers: file.providers ?? [],
    regions: file.regions ?? [],
    currency,
    ...(file.discount !== undefined && { discount: from(file.discount, 'discount') }),
    ...(askAbove !== undefined && trusted && { askAboveUsd: from(askAbove / currency.perUsd, 'ask-above') }),
    ...(file.team !== undefined && { team: from(file.team, 'team') }),
    ...(file['cost-center'] !== undefined && { costCenter: from(file['cost-center'], 'cost-center') }),
    tags: file.tags ?? {},
    ...(file.stamp !== undefined && { stamp: from(file.stamp, 'stamp') }),
    policies: (file.policies ?? []).map((policy, index) => policyOf(policy, row('policies', index))),
    budgets: (file.budgets ?? []).map((budget, index) => budgetOf(budget, row('budgets', index))),
    exemptions: (file.exemptions ?? []).map((exemption, index) => exemptionOf(exemption, row('exemptions', index))),
    ...(file.notify !== undefined && trusted && { notify: file.notify }),
    passedOver: (file.ignore ?? []).map(glob => ({ glob, folder: dirname(path) })),
    ignored: trusted
      ? []
      : [
          ...(askAbove === undefined
            ? []
            : [
                `${path}: ask-above counts only in your own or the site's file, a repository can't raise its own limit`,
              ]),
          ...(file.notify === undefined
            ? []
            : [`${path}: notify counts only in your own or the site's file, a repository can't have programs run`]),
        ],
  }
}

type ClusterRow = NonNullable<ConfigFile['clusters']>[number]
type From = <T>(value: T, ...keys: (string | number)[]) => Sourced<T>

function clusterOf(cluster: ClusterRow, currency: Currency, from: From): Cluster {
  if (cluster.scheduler === 'slurm') {
    const pools = cluster.partitions.map((row, index) => ({
      ...poolOf(row, currency, (value, ...keys) => from(value, 'partitions', index, ...keys)),
      ...(row.gres !== undefined && { gresType: row.gres }),
      resourceName: 'gpu',
    }))
    return { name: cluster.name, scheduler: 'slurm', pools }
  }
  const pools = cluster['node-pools'].map((row, index) => ({
    ...poolOf(row, currency, (value, ...keys) => from(value, 'node-pools', index, ...keys)),
    ...(row['node-selector'] !== undefined && { nodeSelector: row['node-selector'] }),
    resourceName: row.resource ?? 'nvidia.com/gpu',
  }))
  return {
    name: cluster.name,
    scheduler: 'kubernetes',
    ...(cluster.context !== undefined && { context: cluster.context }),
    pools,
  }
}

type PoolRow =
  | Extract<ClusterRow, { scheduler: 'slurm' }>['partitions'][number]
  | Extract<ClusterRow, { scheduler: 'kubernetes' }>['node-pools'][number]

function poolOf(row: PoolRow, currency: Currency, from: From): Omit<Pool, 'resourceName'> {
  return {
    name: row.name,
    gpu: row.gpu,
    gpusPerNode: row['gpus-per-node'],
    spot: row.spot ?? false,
    names: {
      gpu: from(row.gpu, 'gpu'),
      ...(row.machine !== undefined && {
        instanceType: from(row.machine['instance-type'], 'machine', 'instance-type'),
      }),
    },
    ...(row.nodes !== undefined && { nodes: row.nodes }),
    ...(row.rate !== undefined && { usdPerGpuHour: from(row.rate / currency.perUsd, 'rate') }),
    ...(row.machine !== undefined && {
      machine: {
        provider: row.machine.provider,
        instanceType: row.machine['instance-type'],
        region: row.machine.region,
      },
    }),
  }
}

/**
 * A configuration with the policies, budgets and exemptions of another one that is trusted more: a file that `--policy` names,
 * or the base revision's in CI, so that a pull request cannot approve itself. What a repository's own file says of them
 * does not count then, and where it says something else, that is remarked; `called` names what counts instead.
 */
export function withPolicyOf(config: Config, trusted: Config, called = trusted.files[0] ?? 'another file'): Config {
  const all = { policies: config.policies, budgets: config.budgets, exemptions: config.exemptions }
  const said = Object.values(all).flat()
  const own = said.filter(row => !row.trusted)
  const files = [...new Set(own.map(({ place }) => place.file))]
  const replaced = {
    policies: trusting(config.policies, trusted.policies),
    budgets: trusting(config.budgets, trusted.budgets),
    exemptions: trusting(config.exemptions, trusted.exemptions),
  }
  const isSame = contentOf(all) === contentOf(replaced)
  const remark = `${files.join(', ')}: policies, budgets and exemptions do not count here, those of ${called} do`
  return { ...config, ...replaced, ignored: [...config.ignored, ...(isSame || files.length === 0 ? [] : [remark])] }
}

type Row = { readonly trusted: boolean; readonly place: Place }

/** The rows that count: the trusted file's, and of the others those that were trusted before. */
function trusting<T extends Row>(own: readonly T[], trusted: readonly T[]): readonly T[] {
  const rows = [...trusted.map(row => ({ ...row, trusted: true })), ...own.filter(row => row.trusted)]
  return rows.filter((row, index) => rows.findIndex(each => sameText(each, row)) === index)
}

function sameText(a: Row, b: Row): boolean {
  return describePlace(a.place) === describePlace(b.place) && contentOf(a) === contentOf(b)
}

/** What rows say, wherever they stand. */
function contentOf(rows: unknown): string {
  return JSON.stringify(rows, (key, value) => (key === 'place' || key === 'trusted' ? undefined : value))
}

/** The nearer file's settings win; clusters add up, and of two with one name the nearer counts. */
function layOver(near: Config, far: Config): Config {
  const known = new Set(near.clusters.map(cluster => cluster.name))
  return {
    ...far,
    ...near,
    files: [...near.files, ...far.files],
    clusters: [...near.clusters, ...far.clusters.filter(cluster => !known.has(cluster.name))],
    candidates: near.candidates.length > 0 ? near.candidates : far.candidates,
    providers: near.providers.length > 0 ? near.providers : far.providers,
    regions: near.regions.length > 0 ? near.regions : far.regions,
    currency: near.currency === usDollars ? far.currency : near.currency,
    tags: { ...far.tags, ...near.tags },
    policies: [...near.policies, ...far.policies],
    budgets: [...near.budgets, ...far.budgets],
    exemptions: [...near.exemptions, ...far.exemptions],
    passedOver: [...near.passedOver, ...far.passedOver],
    ignored: [...near.ignored, ...far.ignored],
  }
}
