import { relative, resolve } from 'node:path'
import { type CheckedFile, type Checking, checkManifest } from './checked-files.ts'
import { InputError } from './errors.ts'
import { foldersWithin, renderFolder } from './rendering.ts'

/**
 * Checked files of a work tree with its charts and kustomizations rendered by the user's own helm and kubectl: in place of the parts that
 * ask for GPUs, the outermost kustomizations that take them in. What cannot be rendered says why.
 */
export async function withRendered(
  files: readonly CheckedFile[],
  checking: Checking,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly CheckedFile[]> {
  const { source, unrendered } = checking
  const known = new Set(unrendered.map(({ folder }) => folder || '.'))
  const parts = new Set(files.flatMap(({ notRendered }) => notRendered?.path ?? []).filter(path => known.has(path)))
  if (parts.size === 0) return files
  const within = new Map([...known].map(folder => [folder, foldersWithin(resolve(source.root, folder))]))
  const tops = new Set([...parts].flatMap(part => topsOf(part, within, source.root, new Set())))
  const rendered: CheckedFile[] = []
  for (const folder of tops) rendered.push(await checkFolder(folder, checking, environment))
  return [
    ...files.map(file => (parts.has(file.notRendered?.path ?? '') ? { ...file, notRendered: undefined } : file)),
    ...rendered,
  ]
}

/** The kustomizations that take a folder in and are in no other; the folder itself where there are none. */
function topsOf(
  folder: string,
  within: ReadonlyMap<string, readonly string[]>,
  root: string,
  seen: Set<string>,
): readonly string[] {
  if (seen.has(folder)) return []
  seen.add(folder)
  const path = resolve(root, folder)
  const users = [...within].filter(([user, paths]) => user !== folder && paths.includes(path)).map(([user]) => user)
  return users.length === 0 ? [folder] : users.flatMap(user => topsOf(user, within, root, seen))
}

async function checkFolder(
  folder: string,
  checking: Checking,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<CheckedFile> {
  const { source, unrendered } = checking
  const path = unrendered.find(each => (each.folder || '.') === folder)?.file ?? folder
  try {
    const manifest = await renderFolder(relative(process.cwd(), resolve(source.root, folder)) || '.', environment)
    return await checkManifest(path, manifest, checking)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    const [fault] = error.faults
    const reason = [fault?.message, fault?.hint].filter(part => part !== undefined).join('; ')
    const nothing = { path, look: undefined, jobs: [], findings: [], faults: [], refersTo: [], remarks: [] }
    return { ...nothing, notRendered: { path: folder, reason } }
  }
}
