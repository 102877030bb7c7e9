import { relative, resolve } from 'node:path'
import { type Config, type ConfigHomes, type ConfigPath, emptyConfig, findUserConfigs, readConfigs } from './config.ts'
import { InputError } from './errors.ts'
import { type FileSource, folderOf } from './file-source.ts'
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
 * `policy` comes on top and is trusted; so is all of a base revision.
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
  const quietly = (path: string) =>
    configFor(folderOf(path)).catch(error => {
      if (error instanceof InputError) return emptyConfig
      throw error
    })
  return Object.assign(configFor, { quietly })
}

async function readThem(
  near: readonly string[],
  source: FileSource,
  chosen: Chosen,
  homes: ConfigHomes,
  isBase: boolean,
): Promise<Config> {
  const typed = [chosen.config, chosen.policy].flatMap(path =>
    path === undefined ? [] : [resolve(chosen.folder, path)],
  )
  const found = await Promise.all(near.map(path => readNear(path, source, chosen.folder, isBase)))
  return readConfigs([
    ...found.flat(),
    ...typed.map(path => ({ path, trusted: true })),
    ...findUserConfigs(homes, typed),
  ])
}

async function readNear(
  path: string,
  source: FileSource,
  folder: string,
  trusted: boolean,
): Promise<readonly ConfigPath[]> {
  const name = relative(folder, resolve(source.root, path))
  const first = source.read(path, largestBytes)
  const reading = (await source.fetch()) ? source.read(path, largestBytes) : first
  if ('notRead' in reading) {
    throw new InputError([{ place: { file: name }, message: `the configuration can't be read: ${reading.notRead}` }])
  }
  return [{ path: name, trusted, text: new TextDecoder().decode(reading.bytes) }]
}

/** The rules for a job of a change: a change cannot loosen what the base says, so the base's count where it has any. */
export function rulesOf(config: Config, base: Config): Config {
  const [policies, budgets] =
    base.policies.length > 0 ? [base.policies, base.budgets] : [config.policies, config.budgets]
  return { ...config, policies, budgets, exemptions: [...base.exemptions, ...config.exemptions] }
}
