import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { diskFiles } from './file-source.ts'
import type { ListedSource } from './git.ts'

/** Folders that hold no manifest of a project's own. */
const passedOver: ReadonlySet<string> = new Set(['node_modules', '__pycache__'])

/** The files below a folder that is in no repository; hidden folders and links are passed over. */
export function folderFiles(root: string): ListedSource {
  return { ...diskFiles(root), paths: [...filesBelow(root, '')] }
}

function* filesBelow(root: string, folder: string): Generator<string> {
  for (const entry of entriesOf(join(root, folder))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isFile()) yield path
    else if (entry.isDirectory() && !entry.name.startsWith('.') && !passedOver.has(entry.name)) {
      yield* filesBelow(root, path)
    }
  }
}

/** In the order of names; none of a folder that may not be read. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}
