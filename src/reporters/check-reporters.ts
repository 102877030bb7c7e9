import { codeQuality } from './code-quality.ts'
import { checkCsv } from './csv.ts'
import { github } from './github.ts'
import { checkHtml } from './html.ts'
import { junit } from './junit.ts'
import { checkMarkdown } from './markdown.ts'
import { sarif } from './sarif.ts'

/** Every way the outcome of a check can be written for other programs to show. */
export const checkReporters = [checkMarkdown, github, sarif, junit, codeQuality, checkCsv, checkHtml] as const
