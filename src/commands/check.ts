import { check as checkManifests, serveCheck } from '../check.ts'
import type { CheckReport } from '../check-report.ts'
import { isCheckThread } from '../check-workers.ts'
import { GpufareError } from '../errors.ts'
import { addStepSummary, writeFiles } from '../outputs.ts'
import { exitWhenInterrupted } from '../programs.ts'
import { findCheckReporter } from '../reporters/check-reporters.ts'
import { loadPaint, type Paint, plainPaint, processTerminal, type Terminal, withProgress } from '../terminal.ts'
import { type CheckFormat, isToFile, longestComment, type OutputOptions, outputsOf } from '../wanted-formats.ts'

/** What `gpufare check` can be told. */
export interface CheckOptions extends OutputOptions<CheckFormat> {
  readonly base?: string
  readonly exact?: true
  readonly staged?: true
  readonly head?: string
  readonly include?: readonly string[]
  readonly strict?: true
  readonly config?: string
  readonly policy?: string
  readonly quiet?: true
  readonly color: boolean
}

/** The gate: prices and judges manifests, prints the outcome, and says by its exit code whether it passes. */
export async function check(
  paths: readonly string[],
  options: CheckOptions,
  terminal: Terminal = ownTerminal(options),
  folder: string = process.cwd(),
): Promise<number> {
  if (isCheckThread()) return serveCheck()
  if (options.staged === true && options.head !== undefined) {
    throw new GpufareError('--staged and --head exclude each other', 2, 'leave one of them out')
  }
  if (options.exact === true && options.base === undefined) {
    throw new GpufareError('--exact says how --base is meant', 2, 'add --base REV')
  }
  const { base, config, policy } = options
  const report = await withProgress(terminal, progress =>
    checkManifests({
      folder,
      paths: paths.length === 0 ? ['.'] : paths,
      include: options.include ?? [],
      head: options.head !== undefined ? { revision: options.head } : options.staged === true ? 'index' : 'work tree',
      ...(base !== undefined && { base: { revision: base, exact: options.exact === true } }),
      ...(config !== undefined && { config }),
      ...(policy !== undefined && { policy }),
      strict: options.strict === true,
      today: new Date().toISOString().slice(0, 10),
      environment: terminal.environment,
      progress: (done, total) => progress(`${done} of ${total} files checked`),
    }),
  )
  await print(report, options, terminal)
  return exitCodes[report.verdict]
}

const exitCodes = { pass: 0, warn: 0, deny: 3, broken: 2, unknown: 5 } as const

/** The terminal of this process, which from now on ends in order when it is interrupted. */
function ownTerminal(options: CheckOptions): Terminal {
  exitWhenInterrupted()
  return processTerminal(options.color ? undefined : false)
}

/** Every format that is wanted, to its file or to standard output. */
async function print(report: CheckReport, options: CheckOptions, terminal: Terminal): Promise<void> {
  const shown = options.quiet === true ? { ...report, remarks: [], notRendered: [] } : report
  const render = (format: CheckFormat, paint: Paint) =>
    findCheckReporter(format).render(shown, {
      width: terminal.columns,
      paint,
      ...(format === 'markdown' && { maxCharacters: longestComment(terminal.environment) }),
    })
  const outputs = outputsOf(options, 'table')
  await writeFiles(outputs.filter(isToFile), format => render(format, plainPaint))
  for (const { format, file } of outputs) {
    if (file === undefined) terminal.stdout.write(`${render(format, await loadPaint(terminal, 'stdout'))}\n`)
  }
  if (outputs.some(({ format }) => format === 'github')) {
    await addStepSummary(render('markdown', plainPaint), terminal.environment)
  }
}
