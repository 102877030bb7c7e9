import type { QuoteFormat } from '../wanted-formats.ts'
import { csv } from './csv.ts'
import { html } from './html.ts'
import { json } from './json.ts'
import { markdown } from './markdown.ts'
import type { Reporter } from './reporter.ts'
import { table } from './table.ts'

/** Every way a report can be written; the first is what a person gets. */
export const reporters = [table, json, markdown, html, csv] as const

/** The reporter of a `--format`. */
export function findReporter(name: QuoteFormat): Reporter {
  return reporters.find(reporter => reporter.name === name) ?? table
}
