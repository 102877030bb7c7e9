import { posix } from 'node:path'
import { pathBesideManifest, pathInFolder } from './folders.ts'
import { LONGEST_TEXT, type Scope } from './scope.ts'
import { isKnown, showText } from './text.ts'

/** What has to be known to look a file up. */
export type FileScope = Pick<Scope, 'folder' | 'sourcedFiles' | 'sources'> & {
  readonly writtenFiles: ReadonlyMap<string, string>
}

/** Where a file lies that a script reads, as it is looked up beside the manifest; undefined where that is not known or elsewhere. */
export function fileBeside({ folder }: Pick<Scope, 'folder'>, path: string): string | undefined {
  const beside = pathBesideManifest(showText(path), isKnown(path))
  return beside === undefined || posix.isAbsolute(beside) ? undefined : pathInFolder(folder, beside)
}

/** What a file says that the script wrote itself or that lies beside the manifest; notes that it would be read. */
export function fileText(scope: FileScope, path: string): string | undefined {
  const written = scope.writtenFiles.get(showText(path))
  if (written !== undefined) return written
  const file = fileBeside(scope, path)
  if (file === undefined) return undefined
  scope.sources.add(file)
  const text = scope.sourcedFiles.get(file)
  return text === undefined || text.length > LONGEST_TEXT ? undefined : text
}
