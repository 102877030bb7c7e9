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

/** `TP=2 sbatch --nodes=2 job.sbatch one two`: what is set, what the scheduler and what the script is given. */
export function readInvocation(invocation: string): {
  readonly environment: Readonly<Record<string, string>>
  readonly schedulerArguments: readonly string[]
  readonly scriptArguments: readonly string[]
} {
  const words = invocation.split(/\s+/).filter(word => word !== '')
  const at = words.findIndex(word => word === 'sbatch' || word === 'kubectl')
  const behind = at === -1 ? [] : words.slice(at + 1)
  const file = behind.findIndex(word => /^[^-].*\.\w+$/.test(word))
  const environment = words.slice(0, Math.max(0, at)).flatMap((word): [string, string][] => {
    const [, name, value = ''] = /^(\w+)=(.*)$/.exec(word) ?? []
    return name === undefined ? [] : [[name, value]]
  })
  return {
    environment: Object.fromEntries(environment),
    schedulerArguments: words[at] === 'sbatch' ? behind.slice(0, Math.max(0, file)) : [],
    scriptArguments: file === -1 ? [] : behind.slice(file + 1),
  }
}
