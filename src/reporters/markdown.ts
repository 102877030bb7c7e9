import {
  type CandidateLine,
  type CheckedJob,
  type CheckReport,
  type CheckReporter,
  comparedUsd,
  type JobChange,
} from '../check-report.ts'
import { describeFault } from '../errors.ts'
import { markdownText } from '../escaping.ts'
import type { Finding } from '../finding.ts'
import type { Currency } from '../units.ts'
import {
  countWords,
  differenceWords,
  moneyWords,
  placeWords,
  rankedFindings,
  runtimeWords,
  standingOf,
  totalDifferenceWords,
  totalWords,
  verdictReason,
  verdictWords,
} from './check-words.ts'
import { priceSources, quotedJobOf } from './quoted-jobs.ts'
import type { Reporter } from './reporter.ts'
import { countOf } from './words.ts'

/** Hidden line by which a comment is found again, to be updated instead of posted once more. */
export const commentMarker = '<!-- gpufare -->'

/** Longest text of one cell or item: a name may be as long as a file. */
const longestText = 600

/** A part of the text whose items may be left out where the receiver takes no more. */
interface Section {
  readonly head: readonly string[]
  /** Written when there is room: there may be thousands. */
  readonly items: readonly (() => string)[]
  readonly tail: readonly string[]
  /** What the items are, in the plural. */
  readonly what: string
}

/** A comment for a pull request: the verdict first, then what to change, the jobs, and folded away what else is known. */
export const checkMarkdown: CheckReporter = {
  name: 'markdown',
  render(report, options) {
    const sections = [
      findingSection(report),
      faultSection(report),
      ...(report.base === undefined ? [jobSection(report)] : [changeSection(report.base.changes, report.currency)]),
      candidateSection(report),
      foldedList('Warnings', 'warnings', warningItems(report.jobs)),
      foldedList('Not rendered, so not priced', 'files', notRenderedItems(report)),
      foldedList('Remarks', 'remarks', report.remarks),
    ]
    return fitWithin(headOf(report), sections, `${safe(countWords(report))}.`, options.maxCharacters)
  },
}

/** The quote for a wiki, an issue or a chat that takes Markdown. */
export const markdown: Reporter = {
  name: 'markdown',
  render(report, options) {
    const jobs = report.fares.map(fare => quotedJobOf(fare, report.currency, options.all))
    const lines = jobs.flatMap((job, index) => [
      `### ${safe(job.name)}`,
      '',
      `${safe(`${job.kind} in ${placeWords(job.place)}`)}`,
      '',
      ...(job.candidates.length === 0
        ? ['No GPU is asked for: nothing to price.', '']
        : [...candidateTable(job, report.currency), '']),
      ...priceSources(report.fares[index]).map(item),
      ...job.warnings.map(warning => item(`warning: ${warning}`)),
      '',
    ])
    return [...lines, ...report.remarks.map(item)].join('\n').trimEnd()
  },
}

function headOf(report: CheckReport): readonly string[] {
  const figures = [totalWords(report), totalDifferenceWords(report)].filter(text => text !== '')
  return [
    commentMarker,
    `### GPU cost: ${verdictWords[report.verdict]}`,
    '',
    [`**${sentence(verdictReason(report))}**`, ...figures.map(sentence)].join(' '),
  ]
}

function sentence(text: string): string {
  return `${safe(text.charAt(0).toUpperCase() + text.slice(1))}.`
}

function findingSection(report: CheckReport): Section {
  return {
    head: ['', '#### What was found', ''],
    items: rankedFindings(report.findings).map(finding => () => findingItem(finding)),
    tail: [],
    what: 'findings',
  }
}

function findingItem(finding: Finding): string {
  const title = `**${safe(finding.rule)}**, ${safe(standingOf(finding))}: ${safe(finding.message)}`
  const line = `- ${title} (${safe(finding.jobName)}, ${safe(placeWords(finding.place))})`
  return finding.exemption === undefined ? `${line}\n  - to pass: ${safe(finding.remedy)}` : line
}

function faultSection(report: CheckReport): Section {
  return {
    head: ['', '#### What cannot be read', ''],
    items: report.faults.map(fault => () => item(describeFault(fault))),
    tail: [],
    what: 'faults',
  }
}

function jobSection(report: CheckReport): Section {
  return {
    head: ['', ...tableHead(['job', 'GPUs', 'runtime', 'cost', 'basis'])],
    items: report.jobs.map(
      job => () =>
        tableRow([
          jobWords(job),
          job.gpus,
          runtimeWords(job),
          moneyWords(job, report.currency, ' to '),
          job.basis ?? '?',
        ]),
    ),
    tail: [],
    what: 'jobs',
  }
}

function changeSection(changes: readonly JobChange[], currency: Currency): Section {
  return {
    head: ['', ...tableHead(['job', 'GPUs', 'runtime', 'was', 'is', 'difference'])],
    items: changes.map(change => () => changeRow(change, currency)),
    tail: [],
    what: 'changes',
  }
}

function changeRow({ file, before, after, differenceUsd, renamedFrom }: JobChange, currency: Currency): string {
  const job = after ?? before
  const name = job === undefined ? file : jobWords(job)
  return tableRow([
    renamedFrom === undefined ? name : `${name}, was ${renamedFrom}`,
    after?.gpus ?? '',
    after === undefined ? '' : runtimeWords(after),
    before === undefined ? 'new' : amount(before, currency),
    after === undefined ? 'removed' : amount(after, currency),
    differenceWords(differenceUsd, currency),
  ])
}

/** What a change is measured by, said as what it is. */
function amount(job: CheckedJob, currency: Currency): string {
  const usd = comparedUsd(job)
  if (usd === undefined) return '?'
  return moneyWords(
    { totalUsd: job.totalUsd && { p10: usd, p50: usd, p90: usd }, upperBoundUsd: usd, usdPerHour: undefined },
    currency,
  )
}

function candidateSection(report: CheckReport): Section {
  const jobs = report.jobs.filter(job => job.candidates.some(candidate => !candidate.asRequested))
  return {
    head: ['', '<details>', `<summary>Other GPUs for ${countOf(jobs.length, 'job')}</summary>`],
    items: jobs.map(
      job => () => ['', `**${safe(jobWords(job))}**`, '', ...candidateTable(job, report.currency)].join('\n'),
    ),
    tail: ['', '</details>'],
    what: 'jobs',
  }
}

function candidateTable(job: CheckedJob, currency: Currency): string[] {
  return [
    ...tableHead(['GPUs', 'runtime', 'cost', 'where', '']),
    ...job.candidates.map(candidate => candidateRow(candidate, currency)),
  ]
}

function candidateRow(candidate: CandidateLine, currency: Currency): string {
  const able = candidate.canRun || candidate.asRequested
  const note = candidate.asRequested
    ? ['as written', candidate.note].filter(Boolean).join(': ')
    : (candidate.note ?? '')
  return tableRow([
    candidate.gpus,
    able ? runtimeWords(candidate) : 'cannot run',
    able ? moneyWords(candidate, currency, ' to ') : '',
    candidate.offer,
    note,
  ])
}

function warningItems(jobs: readonly CheckedJob[]): readonly string[] {
  return jobs.flatMap(job => job.warnings.map(warning => `${placeWords({ file: job.place.file })}: ${warning}`))
}

function notRenderedItems(report: CheckReport): readonly string[] {
  return report.notRendered.map(({ file, reason }) => `${file}: ${reason}`)
}

function foldedList(title: string, what: string, texts: readonly string[]): Section {
  return {
    head: ['', '<details>', `<summary>${title} (${texts.length})</summary>`, ''],
    items: texts.map(text => () => item(text)),
    tail: ['', '</details>'],
    what,
  }
}

function jobWords(job: CheckedJob): string {
  return `${job.name} in ${placeWords(job.place)}`
}

function item(text: string): string {
  return `- ${safe(text)}`
}

function tableHead(cells: readonly string[]): string[] {
  return [`| ${cells.join(' | ')} |`, `|${cells.map(() => ' --- |').join('')}`]
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map(safe).join(' | ')} |`
}

/** Text as text, and not without end. */
function safe(text: string): string {
  return markdownText(text.length <= longestText ? text : `${text.slice(0, longestText)}…`)
}

/**
 * The whole text within a number of characters. Sections take what they need in their order, later ones what is left; how many items
 * are left out is said. The verdict and the counts always stay.
 */
function fitWithin(
  head: readonly string[],
  sections: readonly Section[],
  foot: string,
  maxCharacters = Number.POSITIVE_INFINITY,
): string {
  const filled = sections.filter(section => section.items.length > 0)
  const fixed = [...head, '', foot, ...filled.flatMap(frameOf)]
  let room = maxCharacters - lengthOf(fixed)
  const parts = filled.flatMap(section => {
    const items: string[] = []
    for (const write of section.items) {
      const text = write()
      if (lengthOf([text]) > room) break
      room -= lengthOf([text])
      items.push(text)
    }
    return joinSection(section, items)
  })
  return [...head, ...parts, '', foot].join('\n')
}

/** All of a section but its items, as long as it may get. */
function frameOf({ head, tail, items, what }: Section): readonly string[] {
  return [...head, '', leftOut(items.length, items.length, what), ...tail]
}

function joinSection({ head, tail, items, what }: Section, kept: readonly string[]): readonly string[] {
  const missing = items.length - kept.length
  const note = missing === 0 ? [] : ['', leftOut(missing, items.length, what)]
  return kept.length === 0 ? note : [...head, ...kept, ...note, ...tail]
}

function leftOut(count: number, total: number, what: string): string {
  return `${count} of ${total} ${what} left out: the text would be too long.`
}

/** With the line breaks that join them. */
function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0)
}
