import type { Role } from '../job.ts'

/** Folders that are a node's own memory or disk: by the Filesystem Hierarchy Standard, and variables that name such a folder. */
const NODE_FOLDERS =
  /^(\/tmp|\/var\/tmp|\/dev\/shm|\$\{?(TMPDIR|TMP|TEMP|SLURM_TMPDIR|LOCAL_SCRATCH|LOCALSCRATCH)\}?)(\/|$)/

/** Whether what is written there goes with the node or pod that wrote it; false also where nobody can say. */
export function isLostWithNode(folder: string, role: Role | undefined): boolean {
  const isBelow = (parent: string) => folder === parent || folder.startsWith(`${parent.replace(/\/+$/, '')}/`)
  const durable = role?.mountedFolders?.filter(({ isLost }) => !isLost).map(({ path }) => path) ?? []
  if (durable.some(isBelow)) return false
  return (
    NODE_FOLDERS.test(folder) || (role?.mountedFolders?.some(({ path, isLost }) => isLost && isBelow(path)) ?? false)
  )
}
