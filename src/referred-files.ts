import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Job } from './job.ts'
import { findReferredPaths } from './workloads/index.ts'
import type { ReferredFiles } from './workloads/workload-reader.ts'

/** A configuration is not larger; data and weights are. */
const LARGEST_BYTES = 5_000_000
/** A script names a script that names a configuration: rounds of looking. */
const MOST_ROUNDS = 4

/**
 * Reads the files that a job's command lines refer to. Only what lies in the manifest's repository, or in its folder
 * where it is in none: a path or link that leads out of it, a large file or one that is not there is named with the reason.
 */
export function readReferredFiles(job: Job, folder: string): ReferredFiles {
  const files = new Map<string, { readonly text: string } | { readonly notRead: string }>()
  const root = findRoot(folder)
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const missing = findReferredPaths(job, files).filter(path => !files.has(path))
    if (missing.length === 0) break
    for (const path of missing) files.set(path, readWithin(root, folder, path))
  }
  return files
}

/** The repository's folder, or the manifest's own. */
function findRoot(folder: string): string {
  const start = resolve(folder)
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return start
  }
}

function readWithin(
  root: string,
  folder: string,
  path: string,
): { readonly text: string } | { readonly notRead: string } {
  const target = resolve(folder, path)
  if (!isWithin(resolve(root), target)) return { notRead: outside(root, path) }
  try {
    // Links are followed before the question is asked where it leads.
    if (!isWithin(realpathSync(root), realpathSync(target))) return { notRead: outside(root, path) }
  } catch {
    return { notRead: 'not found beside the manifest' }
  }
  return readText(target)
}

function isWithin(root: string, target: string): boolean {
  const way = relative(root, target)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function outside(root: string, path: string): string {
  return isAbsolute(path)
    ? 'an absolute path; only files of the manifest’s own folder are read'
    : `it lies outside ${root}`
}

function readText(path: string): { readonly text: string } | { readonly notRead: string } {
  try {
    const stat = statSync(path)
    if (!stat.isFile()) return { notRead: 'not a file' }
    if (stat.size > LARGEST_BYTES) return { notRead: `larger than ${LARGEST_BYTES / 1e6} MB` }
    const bytes = readFileSync(path)
    return bytes.includes(0) ? { notRead: 'not a text file' } : { text: bytes.toString('utf8') }
  } catch {
    return { notRead: 'it cannot be read' }
  }
}
