import { type Fault, InputError } from '../errors.ts'
import { type PassedOn, type QuotedManifest, quoteManifests } from '../quoted-manifests.ts'
import { findReporter } from '../reporters/index.ts'
import { faultsAsJson } from '../reporters/json.ts'
import { loadPaint, plainPaint, processTerminal, type Terminal } from '../terminal.ts'
import { usDollars } from '../units.ts'
import { isToFile, type OutputOptions, outputsOf, type QuoteFormat } from '../wanted-formats.ts'

/** What `gpufare estimate` can be told. */
export interface EstimateOptions extends OutputOptions<QuoteFormat> {
  readonly all?: true
  readonly explain?: true
  readonly config?: string
  readonly quiet?: true
  readonly color: boolean
}

/** Reads manifests and prints what they take and cost; submits nothing. Answers 5 where one says nothing of the machine it would get. */
export async function estimate(
  paths: readonly string[],
  options: EstimateOptions,
  passedOn: PassedOn,
  terminal: Terminal = processTerminal(options.color ? undefined : false),
): Promise<number> {
  const quoted = await quoteManifests(paths, options, passedOn, terminal).catch(async error => {
    if (error instanceof InputError) await showFaults(error.faults, options, terminal)
    throw error
  })
  await showQuotes(quoted, options, terminal, 'stdout')
  const warnings = quoted.flatMap(({ fares }) => fares.flatMap(fare => fare.warnings))
  return warnings.some(({ code }) => code === 'no-directives') ? 5 : 0
}

/** Tells programs what is wrong, where they would have read the quote. */
async function showFaults(faults: readonly Fault[], options: EstimateOptions, terminal: Terminal): Promise<void> {
  const outputs = outputsOf(options, 'table').filter(({ format }) => format === 'json')
  const files = outputs.filter(isToFile)
  if (files.length > 0) await (await import('../outputs.ts')).writeFiles(files, () => faultsAsJson(faults))
  if (files.length < outputs.length) terminal.stdout.write(`${faultsAsJson(faults)}\n`)
}

/** Writes the report in every format that is wanted: to its file, or to one of the two outputs. */
export async function showQuotes(
  quoted: readonly QuotedManifest[],
  options: EstimateOptions,
  terminal: Terminal,
  output: 'stdout' | 'stderr',
): Promise<void> {
  const report = {
    fares: quoted.flatMap(each => each.fares),
    currency: quoted[0]?.config.currency ?? usDollars,
    remarks: options.quiet === true ? [] : [...new Set(quoted.flatMap(each => each.config.ignored))],
  }
  const render = async (format: QuoteFormat, toFile: boolean) =>
    findReporter(format).render(report, {
      width: terminal.columns,
      paint: toFile ? plainPaint : await loadPaint(terminal, output),
      all: options.all === true,
      explain: options.explain === true,
    })
  const outputs = outputsOf(options, 'table')
  const files = outputs.filter(isToFile)
  if (files.length > 0) await (await import('../outputs.ts')).writeFiles(files, format => render(format, true))
  for (const { format, file } of outputs) {
    if (file === undefined) terminal[output].write(`${await render(format, false)}\n`)
  }
}
