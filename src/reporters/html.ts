import {
  type CandidateLine,
  type CheckedJob,
  type CheckReport,
  type CheckReporter,
  comparedUsd,
  type JobChange,
} from '../check-report.ts'
import { describeFault } from '../errors.ts'
import { htmlText } from '../escaping.ts'
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
import { plotCostAgainstTime } from './cost-time-plot.ts'
import { type HtmlCell, htmlPage, htmlTable } from './html-page.ts'
import { priceSources, quotedJobOf } from './quoted-jobs.ts'
import type { Reporter } from './reporter.ts'
import { countOf } from './words.ts'

/** Jobs that get a plot: a page of thousands would be too much for a browser. */
const mostPlots = 100

/** The outcome of a check as a page. */
export const checkHtml: CheckReporter = {
  name: 'html',
  render(report) {
    const title = `GPU cost: ${verdictWords[report.verdict]}`
    const figures = [totalWords(report), totalDifferenceWords(report)].filter(words => words !== '')
    return htmlPage(title, [
      '<header>',
      `<h1>GPU cost: <span class="${report.verdict}">${verdictWords[report.verdict]}</span></h1>`,
      `<p>${[verdictReason(report), ...figures].map(htmlText).join('; ')}.</p>`,
      '</header>',
      '<main>',
      ...section('What was found', findingList(report)),
      ...section('What cannot be read', list(report.faults.map(describeFault))),
      ...section(
        'Against the base',
        report.base === undefined ? [] : changeTable(report.base.changes, report.currency),
      ),
      ...section('Jobs', jobTable(report)),
      ...section('Other GPUs', candidateParts(report)),
      ...section(
        'Not rendered, so not priced',
        list(report.notRendered.map(({ file, reason }) => `${file}: ${reason}`)),
      ),
      ...section('Remarks', list(report.remarks)),
      '</main>',
      `<footer><p class="soft">${htmlText(countWords(report))}.</p></footer>`,
    ])
  },
}

/** The quote as a page. */
export const html: Reporter = {
  name: 'html',
  render(report, options) {
    const jobs = report.fares.map(fare => quotedJobOf(fare, report.currency, options.all))
    const title =
      jobs.length === 1
        ? `What ${jobs[0]?.name} will take and cost`
        : `What ${countOf(jobs.length, 'job')} will take and cost`
    return htmlPage(title, [
      `<header><h1>${htmlText(title)}</h1></header>`,
      '<main>',
      ...jobs.flatMap((job, index) => [
        `<h2>${htmlText(job.name)}</h2>`,
        `<p class="soft">${htmlText(`${job.kind} in ${placeWords(job.place)}`)}</p>`,
        ...(index < mostPlots ? [plotCostAgainstTime(job.candidates, report.currency, job.name)] : []),
        ...(job.candidates.length === 0
          ? ['<p>No GPU is asked for: nothing to price.</p>']
          : candidateTable(job, report.currency)),
        ...list(job.warnings),
        ...priceSources(report.fares[index]).map(words => `<p class="soft">${htmlText(words)}</p>`),
      ]),
      '</main>',
      `<footer>${report.remarks.map(remark => `<p class="soft">${htmlText(remark)}</p>`).join('')}</footer>`,
    ])
  },
}

function section(title: string, content: readonly string[]): readonly string[] {
  return content.length === 0 ? [] : ['<section>', `<h2>${title}</h2>`, ...content, '</section>']
}

function list(items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : ['<ul>', ...items.map(item => `<li>${htmlText(item)}</li>`), '</ul>']
}

function findingList(report: CheckReport): readonly string[] {
  const findings = rankedFindings(report.findings)
  return findings.length === 0 ? [] : ['<ul class="findings">', ...findings.map(findingItem), '</ul>']
}

function findingItem(finding: Finding): string {
  const { rule, level, jobName, place, message, remedy, exemption } = finding
  const standing = `<strong class="${exemption === undefined ? level : 'pass'}">${htmlText(standingOf(finding))}</strong>`
  const where = `<span class="soft">${htmlText(`${jobName}, ${placeWords(place)}, ${rule}`)}</span>`
  const change = exemption === undefined ? `<br>To pass: ${htmlText(remedy)}` : ''
  return `<li>${standing}: ${htmlText(message)}${change}<br>${where}</li>`
}

function changeTable(changes: readonly JobChange[], currency: Currency): readonly string[] {
  if (changes.length === 0) return ['<p>No job changed.</p>']
  return htmlTable(
    'changes against the base',
    ['job', 'file', 'was', 'is', 'difference'],
    changes.map(({ file, renamedFrom, before, after, differenceUsd }) => ({
      cells: [
        { text: (after ?? before)?.name ?? '' },
        { text: renamedFrom === undefined ? file : `${file}, was ${renamedFrom}` },
        moneyCell(before, currency, 'new'),
        moneyCell(after, currency, 'removed'),
        { text: differenceWords(differenceUsd, currency), order: differenceUsd },
      ],
    })),
  )
}

function moneyCell(job: CheckedJob | undefined, currency: Currency, otherwise: string): HtmlCell {
  return job === undefined ? { text: otherwise } : { text: moneyWords(job, currency), order: comparedUsd(job) }
}

function jobTable({ jobs, currency }: CheckReport): readonly string[] {
  if (jobs.length === 0) return []
  return htmlTable(
    'jobs',
    ['job', 'place', 'GPUs', 'runtime', 'cost', 'basis', 'team'],
    jobs.map(job => ({
      cells: [
        { text: job.name },
        { text: placeWords(job.place) },
        { text: job.gpus, order: job.gpuCount },
        timeCell(job),
        moneyCell(job, currency, ''),
        { text: job.basis ?? '?' },
        { text: job.team ?? '' },
      ],
    })),
  )
}

function timeCell(job: CheckedJob | CandidateLine): HtmlCell {
  return { text: runtimeWords(job), order: job.runtimeSeconds?.p50 ?? job.runtimeUpperBoundSeconds }
}

function candidateParts({ jobs, currency }: CheckReport): readonly string[] {
  const compared = jobs.filter(job => job.candidates.some(candidate => !candidate.asRequested))
  const parts = compared
    .slice(0, mostPlots)
    .flatMap(job => [
      `<h3>${htmlText(job.name)} <span class="soft">${htmlText(placeWords(job.place))}</span></h3>`,
      plotCostAgainstTime(job.candidates, currency, job.name),
      ...candidateTable(job, currency),
      ...list(job.warnings),
    ])
  const leftOut = compared.length - Math.min(compared.length, mostPlots)
  return leftOut === 0 ? parts : [...parts, `<p>${leftOut} more are left out.</p>`]
}

function candidateTable(job: CheckedJob, currency: Currency): readonly string[] {
  return htmlTable(
    `GPUs for ${job.name} in ${placeWords(job.place)}`,
    ['GPUs', 'runtime', 'cost', 'where', 'note'],
    job.candidates.map((candidate, index) => {
      const able = candidate.canRun || candidate.asRequested
      const note = [candidate.asRequested ? 'as written' : '', candidate.note ?? ''].filter(words => words !== '')
      return {
        marked: candidate.asRequested,
        cells: [
          { text: `${index + 1}: ${candidate.gpus}`, order: index },
          able ? timeCell(candidate) : { text: 'cannot run' },
          able ? { text: moneyWords(candidate, currency), order: comparedUsd(candidate) } : { text: '' },
          { text: candidate.offer },
          { text: note.join(': ') },
        ],
      }
    }),
  )
}
