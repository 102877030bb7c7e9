import { type PassedOn, type QuotedManifest, quoteManifests } from '../quoted-manifests.ts'
import { findReporter } from '../reporters/index.ts'
import { loadPaint, processTerminal, type Terminal } from '../terminal.ts'
import { usDollars } from '../units.ts'

/** What `gpufare estimate` can be told. */
export interface EstimateOptions {
  readonly format: 'table' | 'json'
  readonly all?: true
  readonly explain?: true
  readonly config?: string
  readonly quiet?: true
  readonly color: boolean
}

/** Reads manifests and prints what they take and cost; submits nothing. */
export async function estimate(
  paths: readonly string[],
  options: EstimateOptions,
  passedOn: PassedOn,
  terminal: Terminal = processTerminal(options.color ? undefined : false),
): Promise<number> {
  const quoted = await quoteManifests(paths, options, passedOn, terminal)
  terminal.stdout.write(`${await renderQuotes(quoted, options, terminal, 'stdout')}\n`)
  return 0
}

/** The report of all manifests of one call, for one of the two outputs. */
export async function renderQuotes(
  quoted: readonly QuotedManifest[],
  options: EstimateOptions,
  terminal: Terminal,
  output: 'stdout' | 'stderr',
): Promise<string> {
  const report = {
    fares: quoted.flatMap(each => each.fares),
    currency: quoted[0]?.config.currency ?? usDollars,
    remarks: options.quiet === true ? [] : [...new Set(quoted.flatMap(each => each.config.ignored))],
  }
  return findReporter(options.format).render(report, {
    width: terminal.columns,
    paint: await loadPaint(terminal, output),
    all: options.all === true,
    explain: options.explain === true,
  })
}
