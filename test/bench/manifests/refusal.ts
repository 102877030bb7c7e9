import type { Gpu } from '../../../src/gpu.ts'
import type { ExpectedRefusal } from './case-schema.ts'
import { type Fact, type Grade, gradeAnswer } from './grade.ts'
import type { Answer } from './run.ts'

/**
 * Holds an answer against what is expected of input that has to be refused or warned about. Of what a message must say only the
 * options, names and line numbers in it are looked for; whether it says the rest is for a reader to judge.
 */
export function gradeRefusal(expected: ExpectedRefusal, answer: Answer, gpus: readonly Gpu[]): Grade {
  const { report, exitCode, text, seconds, memoryMegabytes } = answer
  const { outcome, exit, limits, resources_still: still, workload } = expected
  const given = report === undefined ? 'error' : report.jobs.some(job => job.warnings.length > 0) ? 'warning' : 'answer'
  const totals = expected.totals ?? expected.totals_still
  const answered = gradeAnswer(
    {
      ...(totals && { totals }),
      ...(workload && { workload }),
      ...(still && { resources: [{ role: 'job', ...still }] }),
    },
    report,
    gpus,
  )
  const facts = [
    fact('outcome', outcome, given, isOutcome(expected, given)),
    ...(outcome === 'error' || /^non-zero(?!, or)/.test(exit ?? '')
      ? [fact('exit', 'non-zero', String(exitCode), exitCode !== 0)]
      : []),
    ...expected.message_must_say.map(message => {
      const missing = literalsIn(message).filter(literal => !says(text, literal))
      return fact('message', message, `no ${missing.join(', ')}`, missing.length === 0)
    }),
    fact('stack trace', 'none', 'one', !/\n\s+at .*:\d+:\d+/.test(text)),
    ...(expected.cost === null ? [fact('cost', 'none', 'an amount', !hasAmount(answer))] : []),
    ...(limits
      ? [
          fact('seconds', `<= ${limits.seconds}`, seconds.toFixed(1), seconds <= limits.seconds),
          fact('megabytes', `<= ${limits.memory_mb}`, memoryMegabytes.toFixed(), memoryMegabytes <= limits.memory_mb),
        ]
      : []),
  ]
  return { ...answered, facts: [...facts, ...answered.facts], warnings: { expected: 0, missing: [], spurious: [] } }
}

/** An error is as good as a warning where its exit code may be that of an error. */
function isOutcome({ outcome, exit }: ExpectedRefusal, given: string): boolean {
  return outcome.split(' or ').includes(given) || (given === 'error' && exit?.startsWith('non-zero, or') === true)
}

function fact(key: string, expected: string, got: string, isRight: boolean): Fact {
  return { key, expected, got, verdict: isRight ? 'right' : 'wrong' }
}

function hasAmount({ report }: Answer): boolean {
  const quotes = report?.jobs.flatMap(job => job.quotes).filter(({ asRequested }) => asRequested) ?? []
  return quotes.some(
    ({ costUsd, costUpperBoundUsd, limitUsd }) => (costUsd ?? costUpperBoundUsd ?? limitUsd) !== undefined,
  )
}

/** What no message can say in other words: options, names with digits, lines. */
export function literalsIn(message: string): readonly string[] {
  const withoutRemarks = message.replace(/\([^)]*\)/g, ' ')
  return withoutRemarks.match(/\bline \d+|--[\w-]+(?:=\w+)?|\b(?=[\w-]*\d)(?=[\w-]*[a-z])\w[\w-]*/gi) ?? []
}

function says(text: string, literal: string): boolean {
  const line = /^line (\d+)$/i.exec(literal)?.[1]
  return line === undefined
    ? text.toLowerCase().includes(literal.toLowerCase())
    : new RegExp(`line"?:? ${line}\\b|:${line}\\b`).test(text)
}
