import type { CheckReporter } from '../check-report.ts'
import type { Place } from '../errors.ts'
import { plainText, visibleJson } from '../escaping.ts'
import { rankedFindings } from './check-words.ts'
import { fingerprintsOf } from './fingerprint.ts'

/**
 * GitLab's code quality report (docs.gitlab.com/ci/testing/code_quality, "Code Quality report format"): an array of violations.
 * What was let pass is none of them.
 */
export const codeQuality: CheckReporter = {
  name: 'code-quality',
  render(report) {
    const findings = rankedFindings(report.findings).filter(finding => finding.exemption === undefined)
    const faults = report.faults.map(({ place, message }) => ({
      rule: 'unreadable-manifest',
      level: 'deny' as const,
      jobName: message,
      place,
      message,
      remedy: '',
    }))
    const fingerprints = fingerprintsOf([...findings, ...faults])
    const violations = [
      ...findings.map(finding => ({
        description: plainText(`${finding.jobName}: ${finding.message}. To pass: ${finding.remedy}`),
        check_name: finding.rule,
        severity: finding.level === 'deny' ? 'critical' : 'minor',
        location: locationOf(finding.place),
      })),
      ...faults.map(fault => ({
        description: plainText(fault.message),
        check_name: fault.rule,
        severity: 'blocker',
        location: locationOf(fault.place),
      })),
    ]
    const marked = violations.map((violation, index) => ({ ...violation, fingerprint: fingerprints[index] }))
    return visibleJson(JSON.stringify(marked, null, 2))
  },
}

/** The path as it is from the root of the repository, without `./`. */
function locationOf(place: Place): object {
  return { path: plainText(place.file.replace(/^(\.\/)+/, '')), lines: { begin: place.line ?? 1 } }
}
