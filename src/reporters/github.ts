import type { CheckReporter } from '../check-report.ts'
import type { Place } from '../errors.ts'
import { plainText, workflowMessage, workflowProperty } from '../escaping.ts'
import { rankedFindings, standingOf, totalWords, verdictReason, verdictWords } from './check-words.ts'

/**
 * Workflow commands that GitHub turns into annotations on the lines of a pull request. It shows ten errors and ten warnings of a
 * step, the first ones (docs.github.com, usage limits of workflow commands), so what stops the change comes first.
 */
export const github: CheckReporter = {
  name: 'github',
  render(report) {
    const faults = report.faults.map(({ place, message, hint }) =>
      annotation('error', place, 'cannot be read', hint === undefined ? message : `${message} (${hint})`),
    )
    const findings = rankedFindings(report.findings).map(finding => {
      const standing = finding.exemption === undefined ? finding.level : 'exempted'
      const level = ({ deny: 'error', warn: 'warning', exempted: 'notice' } as const)[standing]
      const rest = standing === 'exempted' ? standingOf(finding) : `To pass: ${finding.remedy}`
      return annotation(level, finding.place, finding.rule, `${finding.jobName}: ${finding.message}. ${rest}`)
    })
    const total = totalWords(report)
    const summary = `gpufare: ${verdictWords[report.verdict]}: ${verdictReason(report)}${total === '' ? '' : `; ${total}`}`
    return [plainText(summary), ...faults, ...findings].join('\n')
  },
}

function annotation(level: 'error' | 'warning' | 'notice', place: Place, title: string, message: string): string {
  const properties = [
    `file=${workflowProperty(place.file)}`,
    ...(place.line === undefined ? [] : [`line=${place.line}`]),
    ...(place.line === undefined || place.column === undefined ? [] : [`col=${place.column}`]),
    `title=${workflowProperty(`gpufare ${title}`)}`,
  ]
  return `::${level} ${properties.join(',')}::${workflowMessage(message)}`
}
