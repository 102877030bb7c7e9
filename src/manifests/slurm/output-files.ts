import type { Manifest } from '../../manifest.ts'
import { jobName } from './read-job.ts'
import { readSbatch, wrappedScript } from './read-sbatch.ts'
import type { Settings } from './settings.ts'

/** Where a batch job's output goes, and what tells the file of one run from that of another. */
export interface OutputPattern {
  /** As written, or sbatch's default. */
  readonly written: string
  /** Folder that sbatch changes to first (`--chdir`), as written; absent = where it is called. */
  readonly folder?: string
  /** Parts of the path between slashes, `''` first where it is absolute. */
  readonly parts: readonly PatternPart[]
}

/** One part of a path: a name, or what such names look like. */
export type PatternPart = string | RegExp

/** What `%j` and its like stand for (sbatch(1), filename pattern); `%x` is the job's name. */
const replacements: Readonly<Record<string, string>> = {
  A: String.raw`(?<job>\d+)`,
  J: String.raw`(?<job>\d+)(?:\.\w+)?`,
  j: String.raw`(?<job>\d+)`,
  a: String.raw`(?<task>\d+)`,
  b: String.raw`\d+`,
  n: String.raw`\d+`,
  t: String.raw`\d+`,
  s: String.raw`\w+`,
  N: String.raw`[\w.-]+`,
  u: String.raw`[\w.-]+`,
}

/** Where sbatch writes what a batch script prints: its output and, where that goes elsewhere, its errors. */
export function outputPatterns(manifest: Manifest): readonly OutputPattern[] {
  const script = wrappedScript(manifest.schedulerArguments) ?? manifest.text
  const settings: Settings = readSbatch({ ...manifest, file: manifest.name, script }).components[0] ?? new Map()
  const name = jobName(manifest, settings, script !== manifest.text)
  const folder = settings.get('chdir')?.value
  const output = settings.get('output')?.value ?? (settings.has('array') ? 'slurm-%A_%a.out' : 'slurm-%j.out')
  const error = settings.get('error')?.value
  return [...new Set([output, error ?? output])].flatMap(written => {
    const parts = partsOf(written, name)
    return parts === undefined ? [] : [{ written, parts, ...(folder !== undefined && { folder }) }]
  })
}

/** Bytes that a file's name may have on Linux (NAME_MAX in limits.h). */
const longestName = 255

/** Undefined where the shell or Slurm fills in what is not known here, and where nothing is kept. */
function partsOf(written: string, jobName: string): readonly PatternPart[] | undefined {
  if (/[\\$`]/.test(written) || written.startsWith('/dev/') || written === 'none') return undefined
  const names = written.replace(/%\d*x/g, () => jobName).split('/')
  if (names.some(name => name.length > longestName)) return undefined
  const parts = written.split('/').map(part => partOf(part, jobName))
  return parts.at(-1) === '' ? undefined : parts
}

/** A plain name where nothing in it varies from run to run. */
function partOf(part: string, jobName: string): PatternPart {
  let name = ''
  let pattern = ''
  let varies = false
  for (const piece of part.split(/(%%|%\d*[A-Za-z])/)) {
    const letter = /^%\d*([A-Za-z])$/.exec(piece)?.[1] ?? ''
    const replacement = replacements[letter]
    if (replacement === undefined) {
      const text = piece === '%%' ? '%' : letter === 'x' ? jobName : piece
      name += text
      pattern += text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
      continue
    }
    // The name of a group may stand in an expression only once.
    const group = /\?<\w+>/.exec(replacement)?.[0]
    pattern += group !== undefined && pattern.includes(group) ? replacement.replace(group, '?:') : replacement
    varies = true
  }
  return varies ? new RegExp(`^${pattern}$`) : name
}
