import { relative, resolve } from 'node:path'
import {
  type Config,
  type ConfigHomes,
  type ConfigPath,
  emptyConfig,
  findUserConfigs,
  readConfigs,
  withPolicyOf,
} from './config.ts'
import { InputError } from './errors.ts'
import { type FileSource, folderOf, readFetched } from './file-source.ts'
import { once } from './once.ts'

/** What the configuration of a repository is called. */
export const configName = 'gpufare.yaml'
/** Hundreds of clusters are not larger. */
const largestBytes = 5_000_000

/** The configuration that counts for the files of a folder of a source; `quietly`, an empty one where it is wrong. */
export interface ConfigFor {
  (folder: string): Promise<Config>
  quietly(path: string): Promise<Config>
}

/** Files that were named, and the folder that names in messages start from. */
export interface Chosen {
  readonly folder: string
  readonly config?: string
  readonly policy?: string
}

/**
 * Finds configurations as `findConfigs` does, but in a source: a revision has its own. `chosen` stands in for the repository's,
 * `policy` says alone what counts as policy; a base revision is trusted.
 */
export function configsOf(source: FileSource, chosen: Chosen, homes: ConfigHomes, isBase = false): ConfigFor {
  const readOnce = once((key: string) => {
    const near = key === '' ? [] : [key]
    return readThem(near, source, chosen, homes, isBase)
  })
  const pathFor = once((folder: string): string => {
    const path = folder === '' ? configName : `${folder}/${configName}`
    if (source.has(path)) return path
    return folder === '' ? '' : pathFor(folderOf(folder))
  })
  const configFor = (folder: string) => readOnce(chosen.config === undefined ? pathFor(folder) : '')
  return Object.assign(configFor, { quietly: quietlyBy(configFor) })
}

function quietlyBy(configFor: (folder: string) => Promise<Config>): ConfigFor['quietly'] {
  return path =>
    configFor(folderOf(path)).catch(error => {
      if (error instanceof InputError) return emptyConfig
      throw error
    })
}

async function readThem(
  near: readonly string[],
  source: FileSource,
  chosen: Chosen,
  homes: ConfigHomes,
  isBase: boolean,
): Promise<Config> {
  const typed = chosen.config === undefined ? [] : [resolve(chosen.folder, chosen.config)]
  const found = await Promise.all(near.map(path => readNear(path, source, chosen.folder, isBase)))
  const config = await readConfigs([
    ...found.flat(),
    ...typed.map(path => ({ path, trusted: true })),
    ...findUserConfigs(homes, typed),
  ])
  if (chosen.policy === undefined) return config
  return withPolicyOf(config, await readConfigs([{ path: resolve(chosen.folder, chosen.policy), trusted: true }]))
}

async function readNear(
  path: string,
  source: FileSource,
  folder: string,
  trusted: boolean,
): Promise<readonly ConfigPath[]> {
  const name = relative(folder, resolve(source.root, path))
  const reading = await readFetched(source, () => source.read(path, largestBytes))
  if ('notRead' in reading) {
    throw new InputError([{ place: { file: name }, message: `the configuration can't be read: ${reading.notRead}` }])
  }
  return [{ path: name, trusted, text: new TextDecoder().decode(reading.bytes) }]
}

/**
 * The configuration of a change with the rules of its base where that has any, its `ignore` list among them: a change can
 * neither loosen what it is judged by nor hide from it.
 */
export function trustingBase(configFor: ConfigFor, baseFor: ConfigFor): ConfigFor {
  // Folders that share both share the outcome, which prices are looked up by.
  const merge = once((config: Config) => once((base: Config) => rulesOf(config, base)))
  const trusting = async (folder: string) =>
    merge(await configFor(folder))(await baseFor.quietly(folder === '' ? configName : `${folder}/${configName}`))
  return Object.assign(trusting, { quietly: quietlyBy(trusting) })
}

function rulesOf(config: Config, base: Config): Config {
  const passedOver = base.files.length > 0 ? base.passedOver : config.passedOver
  const hasRules = base.policies.length + base.budgets.length + base.exemptions.length > 0
  return { ...(hasRules ? withPolicyOf(config, base, 'the base revision') : config), passedOver }
}
