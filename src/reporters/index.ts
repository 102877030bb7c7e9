import { json } from './json.ts'
import type { Reporter } from './reporter.ts'
import { table } from './table.ts'

/** Every way a report can be written; the first is what a person gets. */
export const reporters: readonly Reporter[] = [table, json]
