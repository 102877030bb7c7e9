import type { CheckReport, CheckReporter } from '../check-report.ts'
import type { Fault, Place } from '../errors.ts'
import { plainText, visibleJson } from '../escaping.ts'
import type { Exemption, Finding } from '../finding.ts'
import { fingerprintsOf } from './fingerprint.ts'

/** Faults are results of a rule of their own, so that they are shown on their line too. */
const faultRule = 'unreadable-manifest'

/** SARIF 2.1.0 (OASIS, 27 March 2020): what code scanning of GitHub, Azure and others shows on the line. */
export const sarif: CheckReporter = {
  name: 'sarif',
  render(report) {
    const rules = rulesOf(report)
    const fingerprints = fingerprintsOf(report.findings)
    const log = {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: { name: 'gpufare', rules: rules.map(id => ({ id, shortDescription: { text: titleOf(id) } })) },
          },
          columnKind: 'utf16CodeUnits',
          results: [
            ...report.findings.map((finding, index) => resultOf(finding, rules, fingerprints[index] ?? '')),
            ...report.faults.map(fault => faultResult(fault, rules)),
          ],
        },
      ],
    }
    return visibleJson(JSON.stringify(log, null, 2))
  },
}

function rulesOf(report: CheckReport): readonly string[] {
  const broken = report.faults.length === 0 ? [] : [faultRule]
  return [...new Set([...report.findings.map(finding => finding.rule), ...broken])].sort()
}

/** `job-cost` as words. */
function titleOf(rule: string): string {
  return plainText(rule.replaceAll('-', ' '))
}

function resultOf(finding: Finding, rules: readonly string[], fingerprint: string): object {
  return {
    ruleId: finding.rule,
    ruleIndex: rules.indexOf(finding.rule),
    level: finding.level === 'deny' ? 'error' : 'warning',
    message: { text: plainText(`${finding.jobName}: ${finding.message}. To pass: ${finding.remedy}`) },
    locations: [locationOf(finding.place)],
    partialFingerprints: { 'gpufare/v1': fingerprint },
    ...(finding.exemption !== undefined && { suppressions: [suppressionOf(finding.exemption, finding.place)] }),
  }
}

function suppressionOf(exemption: Exemption, place: Place): object {
  return {
    kind: exemption.place.file === place.file ? 'inSource' : 'external',
    status: 'accepted',
    justification: plainText(`${exemption.reason} (until ${exemption.until})`),
    location: locationOf(exemption.place),
  }
}

function faultResult(fault: Fault, rules: readonly string[]): object {
  const hint = fault.hint === undefined ? '' : ` (${fault.hint})`
  return {
    ruleId: faultRule,
    ruleIndex: rules.indexOf(faultRule),
    level: 'error',
    message: { text: plainText(fault.message + hint) },
    locations: [locationOf(fault.place)],
  }
}

function locationOf(place: Place): object {
  return {
    physicalLocation: {
      artifactLocation: { uri: uriOf(place.file) },
      region: {
        startLine: place.line ?? 1,
        ...(place.line !== undefined && place.column !== undefined && { startColumn: place.column }),
      },
    },
  }
}

/** A path as a relative reference (RFC 3986), or as a file URI where it is absolute. */
function uriOf(file: string): string {
  const path = file
    .replaceAll('\\', '/')
    .replace(/^(\.\/)+/, '')
    .replace(/\p{Cs}/gu, '\ufffd')
    .split('/')
    .map(encodeURIComponent)
    .join('/')
  return path.startsWith('/') ? `file://${path}` : path
}
