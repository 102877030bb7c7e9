import { plainText, visibleJson } from '../escaping.ts'
import { findLogs, readLog } from '../log-files.ts'
import { readProgress } from '../logs/index.ts'
import type { RunProgress } from '../logs/run-progress.ts'
import { describeProgress } from '../logs/words.ts'
import { loadPaint, processTerminal, type Terminal } from '../terminal.ts'

/** What `gpufare learn` can be told. */
export interface LearnOptions {
  readonly format: 'table' | 'json'
  readonly dryRun?: true
  readonly color: boolean
}

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1

/** Reads logs of earlier runs and prints what they tell; nothing is kept yet, with or without `--dry-run`. */
export async function learn(
  names: readonly string[],
  options: LearnOptions,
  terminal: Terminal = processTerminal(options.color ? undefined : false),
): Promise<number> {
  const logs = findLogs(names).map(file => ({ file, progress: readProgress(readLog(file), file) }))
  if (options.format === 'json') {
    const document = { schemaVersion, logs: logs.map(({ file, progress }) => ({ file, ...progress })) }
    terminal.stdout.write(`${visibleJson(JSON.stringify(document, null, 2))}\n`)
  } else {
    const paint = await loadPaint(terminal, 'stdout')
    const blocks = logs.map(({ file, progress }) => [paint.bold(plainText(file)), ...wordsOf(progress)].join('\n'))
    terminal.stdout.write(`${blocks.join('\n\n')}\n`)
  }
  if (options.dryRun !== true) terminal.stderr.write('gpufare: what was learnt is printed and not kept\n')
  return 0
}

function wordsOf(progress: RunProgress): readonly string[] {
  return describeProgress(progress).map(line => `  ${plainText(line)}`)
}
