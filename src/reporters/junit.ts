import type { CheckedJob, CheckReport, CheckReporter } from '../check-report.ts'
import { htmlText as xmlText } from '../escaping.ts'
import type { Finding } from '../finding.ts'
import type { Currency } from '../units.ts'
import { findingsByJob, moneyWords, placeWords, runtimeWords, standingOf } from './check-words.ts'

/** One test: a rule that a job was held against, a job that breaks none, or a file that cannot be read. */
interface TestCase {
  readonly file: string
  readonly line: number | undefined
  readonly name: string
  readonly outcome: 'passed' | 'failure' | 'error' | 'skipped'
  /** Rule, for a failure. */
  readonly type?: string
  readonly message: string
  readonly text: string
}

/**
 * JUnit's XML as Jenkins, GitLab, Azure and others read it: a suite for each file, a failure for each denial, an error for each
 * fault. Jobs that are not known and findings that were let pass are skipped tests.
 */
export const junit: CheckReporter = {
  name: 'junit',
  render(report) {
    const cases = casesOf(report)
    const suites = new Map<string, TestCase[]>()
    for (const each of cases) suites.set(each.file, [...(suites.get(each.file) ?? []), each])
    return [
      '<?xml version="1.0" encoding="UTF-8"?>',
      `<testsuites name="gpufare" ${countsOf(cases)}>`,
      ...[...suites].flatMap(([file, own]) => suiteOf(file, own)),
      '</testsuites>',
    ].join('\n')
  },
}

function casesOf(report: CheckReport): readonly TestCase[] {
  const findingsOf = findingsByJob(report)
  return [
    ...report.jobs.filter(job => findingsOf(job).length === 0).map(job => jobCase(job, report.currency)),
    ...report.findings.map(findingCase),
    ...report.faults.map(({ place, message, hint }) => ({
      file: place.file,
      line: place.line,
      name: 'can be read',
      outcome: 'error' as const,
      type: 'unreadable-manifest',
      message,
      text: hint ?? message,
    })),
  ]
}

function jobCase(job: CheckedJob, currency: Currency): TestCase {
  const isKnown = job.totalUsd !== undefined || job.upperBoundUsd !== undefined
  return {
    file: job.place.file,
    line: job.place.line,
    name: job.name,
    outcome: isKnown ? 'passed' : 'skipped',
    message: isKnown ? '' : 'no estimate is possible',
    text: [`${job.gpus}, ${runtimeWords(job)}, ${moneyWords(job, currency)}`, ...job.warnings].join('\n'),
  }
}

function findingCase(finding: Finding): TestCase {
  const standing = finding.exemption === undefined ? finding.level : 'exempted'
  return {
    file: finding.place.file,
    line: finding.place.line,
    name: `${finding.jobName}: ${finding.rule}`,
    outcome: ({ deny: 'failure', warn: 'passed', exempted: 'skipped' } as const)[standing],
    type: finding.rule,
    message: standing === 'exempted' ? `${finding.message}; ${standingOf(finding)}` : finding.message,
    text: `${placeWords(finding.place)}: ${finding.message}\nto pass: ${finding.remedy}`,
  }
}

function suiteOf(file: string, cases: readonly TestCase[]): string[] {
  return [`  <testsuite name="${xmlText(file)}" ${countsOf(cases)}>`, ...cases.flatMap(caseLines), '  </testsuite>']
}

function countsOf(cases: readonly TestCase[]): string {
  const count = (outcome: TestCase['outcome']) => cases.filter(each => each.outcome === outcome).length
  return `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`
}

function caseLines({ file, line, name, outcome, type, message, text }: TestCase): string[] {
  const where = line === undefined ? '' : ` line="${line}"`
  const attributes = `classname="${xmlText(file)}" name="${xmlText(name)}" file="${xmlText(file)}"${where} time="0"`
  return [`    <testcase ${attributes}>`, `      ${outcomeElement(outcome, type, message, text)}`, '    </testcase>']
}

function outcomeElement(outcome: TestCase['outcome'], type: string | undefined, message: string, text: string): string {
  const body = text.split('\n').map(xmlText).join('\n')
  if (outcome === 'passed') return `<system-out>${body}</system-out>`
  if (outcome === 'skipped') return `<skipped message="${xmlText(message)}"/>`
  return `<${outcome} type="${xmlText(type ?? outcome)}" message="${xmlText(message)}">${body}</${outcome}>`
}
