import { randomBytes } from 'node:crypto'
import { appendFile, lstat, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { GpufareError, systemReason } from './errors.ts'
import type { FileOutput } from './wanted-formats.ts'

/** Writes each report to its file; none where one of them cannot be made. */
export async function writeFiles<Format extends string>(
  outputs: readonly FileOutput<Format>[],
  render: (format: Format) => Promise<string> | string,
): Promise<void> {
  const texts: (readonly [string, string])[] = []
  for (const { format, file } of outputs) texts.push([file, await render(format)])
  for (const [file, text] of texts) await writeWhole(file, `${text}\n`)
}

/** Adds a text to the summary of a step of GitHub Actions; does nothing elsewhere. A step may hold 1 MiB. */
export async function addStepSummary(
  markdown: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { GITHUB_STEP_SUMMARY: file } = environment
  if (file !== undefined && file !== '') await appendFile(file, `${markdown}\n`)
}

/** A file that is there whole or not at all, also when this is interrupted. What is no plain file, such as a pipe, is written to. */
async function writeWhole(file: string, text: string): Promise<void> {
  try {
    const target = await realpath(file).catch(() => file)
    const stats = await lstat(target).catch(() => undefined)
    if (stats !== undefined && !stats.isFile()) return await writeFile(target, text)
    const temporary = join(dirname(target), `.gpufare-${randomBytes(6).toString('hex')}`)
    try {
      await writeFile(temporary, text, { flag: 'wx', ...(stats !== undefined && { mode: stats.mode }) })
      await rename(temporary, target)
    } finally {
      await rm(temporary, { force: true })
    }
  } catch (error) {
    throw new GpufareError(`${file} cannot be written: ${systemReason(error)}`, 1)
  }
}
