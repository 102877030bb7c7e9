import type { CheckReporter } from '../check-report.ts'
import type { CheckFormat } from '../wanted-formats.ts'
import { checkJson } from './check-json.ts'
import { checkTable } from './check-table.ts'
import { codeQuality } from './code-quality.ts'
import { checkCsv } from './csv.ts'
import { github } from './github.ts'
import { checkHtml } from './html.ts'
import { junit } from './junit.ts'
import { checkMarkdown } from './markdown.ts'
import { sarif } from './sarif.ts'

/** Every way the outcome of a check can be written; the first is what a person gets, the others are for programs to show. */
export const checkReporters = [
  checkTable,
  checkJson,
  checkMarkdown,
  github,
  sarif,
  junit,
  codeQuality,
  checkCsv,
  checkHtml,
] as const

/** The reporter of a `--format`. */
export function findCheckReporter(name: CheckFormat): CheckReporter {
  return checkReporters.find(reporter => reporter.name === name) ?? checkTable
}
