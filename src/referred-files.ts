import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { diskFiles, type FileSource, isWithin } from './file-source.ts'
import type { Job } from './job.ts'
import type { Manifest } from './manifest.ts'
import { readJobs } from './manifests/index.ts'
import { findReferredPaths } from './workloads/index.ts'
import type { ReferredFiles } from './workloads/workload-reader.ts'

/** A configuration is not larger; data and weights are. */
const LARGEST_BYTES = 5_000_000
/** A script names a script that names a configuration: rounds of looking. */
const MOST_ROUNDS = 4

/**
 * Reads the files that a job's command lines refer to, `folder` being the manifest's. Only what lies in the manifest's
 * repository, or in its folder where it is in none: a path or link that leads out of it, a large file or one that is not
 * there is named with the reason.
 */
export function readReferredFiles(
  job: Job,
  folder: string,
  source: FileSource = diskFiles(findRoot(folder)),
): ReferredFiles {
  const files = new Map<string, { readonly text: string } | { readonly notRead: string }>()
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const missing = findReferredPaths(job, files).filter(path => !files.has(path))
    if (missing.length === 0) break
    for (const path of missing) files.set(path, readWithin(source, folder, path))
  }
  return files
}

/** Whether the files that another manifest refers to are the same, or just as little to be read, beside one in `folder`. */
export function isBeside(referred: ReferredFiles, folder: string, source: FileSource): boolean {
  return [...referred].every(([path, file]) => isDeepStrictEqual(readWithin(source, folder, path), file))
}

/** The jobs of a manifest, with the scripts they source and the files they refer to. Throws InputError with every fault found. */
export function readJobsWithFiles(
  manifest: Manifest,
  folder: string,
  source: FileSource = diskFiles(findRoot(folder)),
): readonly (readonly [Job, ReferredFiles])[] {
  const sourcedFiles = new Map<string, string>()
  const seen = new Set<string>()
  let jobs = readJobs(manifest)
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const missing = sourcesOf(jobs).filter(path => !seen.has(path))
    if (missing.length === 0) break
    for (const path of missing) {
      const file = readWithin(source, folder, path)
      if ('text' in file) sourcedFiles.set(path, file.text)
      seen.add(path)
    }
    jobs = readJobs({ ...manifest, sourcedFiles })
  }
  return jobs.map(job => [job, readReferredFiles(job, folder, source)])
}

function sourcesOf(jobs: readonly Job[]): readonly string[] {
  return jobs.flatMap(job => job.sources ?? [])
}

/** The repository's folder, or the manifest's own. */
export function findRoot(folder: string): string {
  const start = resolve(folder)
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return start
  }
}

function readWithin(
  source: FileSource,
  folder: string,
  path: string,
): { readonly text: string } | { readonly notRead: string } {
  const target = resolve(folder, path)
  if (!isWithin(source.root, target)) {
    return isAbsolute(path)
      ? { notRead: 'an absolute path; only files of the manifest’s own folder are read' }
      : { notRead: `it lies outside ${source.root}` }
  }
  const reading = source.read(relative(source.root, target).replaceAll(sep, '/'), LARGEST_BYTES)
  if ('notRead' in reading) return reading
  const bytes = Buffer.from(reading.bytes)
  return bytes.includes(0) ? { notRead: 'not a text file' } : { text: bytes.toString('utf8') }
}
