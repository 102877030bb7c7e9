import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { GpufareError, systemReason } from '../errors.ts'
import type { RunFile } from './run-format.ts'

/** What is read of a folder: the files of an MLflow store that tell of runs. Artifacts and metrics may be of any size. */
const filesOfFolder = /(^|\/)meta\.yaml$|\/tags\/mlflow\.runName$/

/** The file at a path (`-` is standard input), or what a folder holds of runs. Throws GpufareError where it can't be read. */
export async function readRunFiles(path: string): Promise<readonly RunFile[]> {
  try {
    if (path === '-') return [await fileAt('/dev/stdin', path)]
    if (!(await stat(path)).isDirectory()) return [await fileAt(path, path)]
    const names = await readdir(path, { recursive: true })
    const files: RunFile[] = []
    for (const name of names.filter(each => filesOfFolder.test(each)).sort()) {
      files.push(await fileAt(join(path, name), join(path, name)))
    }
    return files
  } catch (error) {
    throw new GpufareError(`${path} can't be read: ${systemReason(error)}`, 2)
  }
}

async function fileAt(place: string, path: string): Promise<RunFile> {
  const bytes = await readFile(place)
  return {
    path,
    bytes,
    get text() {
      return bytes.toString('utf8')
    },
  }
}
