import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

/** A folder of test/cases: a job as its user keeps it, and what is right about it. */
export interface Case {
  readonly name: string
  readonly folder: string
  /** expected.yaml as it stands; the reader says which parts it goes by. */
  readonly expected: unknown
}

/** Every case, in the order of the folders' names. */
export function findCases(): readonly Case[] {
  const root = fileURLToPath(new URL('cases/', import.meta.url))
  return readdirSync(root)
    .map(name => ({ name, folder: `${root}${name}` }))
    .filter(({ folder }) => existsSync(`${folder}/expected.yaml`))
    .map(each => ({ ...each, expected: parse(readFileSync(`${each.folder}/expected.yaml`, 'utf8')) }))
}
