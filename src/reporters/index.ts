import { json } from './json.ts'
import type { Reporter } from './reporter.ts'
import { table } from './table.ts'

/** Every way a report can be written; the first is what a person gets. */
export const reporters = [table, json] as const

/** The reporter of a `--format`. */
export function findReporter(name: (typeof reporters)[number]['name']): Reporter {
  return reporters.find(reporter => reporter.name === name) ?? table
}
