import { posix } from 'node:path'

/** Paths that begin where the job was submitted, which is where the manifest lies as a rule. */
const SUBMIT_FOLDER = /^(\$\{?(SLURM_SUBMIT_DIR|PWD)\}?|\$\(pwd\)|`pwd`)(\/|$)/

/** A path as it is looked up beside the manifest, or undefined where it is only known when the job runs. */
export function pathBesideManifest(written: string, isKnown: boolean): string | undefined {
  const path = written.replace(SUBMIT_FOLDER, '')
  return isKnown || path !== written ? path : undefined
}

/** The folder, seen from the manifest's, that a path leads to from another; empty = the manifest's own, or none that is known. */
export function changeFolder(folder: string, path: string | undefined): string {
  if (path === undefined || posix.isAbsolute(path) || /^[~-]/.test(path)) return ''
  const changed = posix.join(folder, path).replace(/\/$/, '')
  return changed === '.' ? '' : changed
}

/** A path that is written in a folder, as it is looked up from the manifest's. */
export function pathInFolder(folder: string | undefined, path: string): string {
  return folder === undefined || folder === '' || posix.isAbsolute(path) ? path : `${folder}/${path}`
}
