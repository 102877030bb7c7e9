import type { QuoteFormat } from '../wanted-formats.ts'
import { csv } from './csv.ts'
import { html } from './html.ts'
import { json } from './json.ts'
import { markdown } from './markdown.ts'
import type { Reporter } from './reporter.ts'
import { table } from './table.ts'

/** Every way a report can be written; the first is what a person gets. Named when asked for: some are bundles of their own. */
export const reporters = () => [table, json, markdown, html, csv]

/** The reporter of a `--format`. */
export function findReporter(name: QuoteFormat): Reporter {
  return name === table.name ? table : (reporters().find(reporter => reporter.name === name) ?? table)
}
