import type { z } from 'zod'
import type { LearnedDocument } from '../../../src/logs/schema.ts'
import type { ExpectedNumber, ExpectedProgress } from './case-schema.ts'

/** A log as `learn --format json` shows it. */
export type LearnedLog = z.infer<typeof LearnedDocument>['logs'][number]

export type Verdict = 'right' | 'wrong' | 'unknown' | 'guessed'

/** One expected fact beside what was said; guessed is a figure where nothing can be known. */
export interface GradedFact {
  readonly key: string
  readonly expected: string
  readonly got: string
  readonly verdict: Verdict
}

/** How a log was read. */
export interface Grade {
  readonly facts: readonly GradedFact[]
  readonly warnings: {
    readonly expected: number
    readonly missing: readonly string[]
    readonly spurious: readonly { readonly code: string; readonly text: string }[]
  }
}

const bytesPerGib = 2 ** 30
const figures = [
  ['steps_done', 'stepsDone'],
  ['steps_total', 'stepsTotal'],
  ['seconds_per_step', 'secondsPerStep'],
  ['samples_per_second', 'samplesPerSecond'],
  ['tokens_per_second', 'tokensPerSecond'],
  ['global_batch', 'globalBatch'],
  ['epochs_done', 'epochsDone'],
  ['epochs_total', 'epochsTotal'],
  ['started_to_first_step_seconds', 'startedToFirstStepSeconds'],
  ['elapsed_seconds', 'elapsedSeconds'],
  ['remaining_seconds', 'remainingSeconds'],
  ['data_share', 'dataShare'],
  ['peak_memory_gib', 'peakMemoryBytes'],
  ['world_size', 'worldSize'],
] as const

/** Holds a log against what is expected of it. */
export function gradeProgress(expected: ExpectedProgress, log: LearnedLog): Grade {
  const numbers = figures.flatMap(([key, name]) => {
    const figure = log[name]
    // what is shown as an assumption is no claim
    const said = figure === undefined || figure.origin.kind === 'assumed' ? undefined : figure.value
    return gradeNumber(key, expected[key], key === 'peak_memory_gib' && said !== undefined ? said / bytesPerGib : said)
  })
  const facts = [
    ...gradeWord('framework', expected.framework, log.framework),
    ...gradeWord('outcome', expected.outcome, log.outcome),
    ...gradeNumber('runs', expected.runs ?? 1, log.runs),
    ...gradeWord('unit', expected.unit, log.unit),
    ...numbers,
  ]
  const codes = new Set<string>(log.warnings.map(({ code }) => code))
  const known = new Set([...expected.must_warn, ...expected.may_warn])
  return {
    facts,
    warnings: {
      expected: expected.must_warn.length,
      missing: expected.must_warn.filter(code => !codes.has(code)),
      spurious: log.warnings.filter(({ code }) => !known.has(code)),
    },
  }
}

function gradeWord(key: string, expected: string | null | undefined, got: string | undefined): readonly GradedFact[] {
  if (expected === undefined) return []
  const verdict =
    expected === null
      ? got === undefined
        ? 'right'
        : 'guessed'
      : got === undefined
        ? 'unknown'
        : got === expected
          ? 'right'
          : 'wrong'
  return [{ key, expected: expected ?? 'unknown', got: got ?? 'unknown', verdict }]
}

function gradeNumber(key: string, expected: ExpectedNumber, got: number | undefined): readonly GradedFact[] {
  if (expected === undefined) return []
  if (expected === null) {
    return [
      { key, expected: 'unknown', got: String(got ?? 'unknown'), verdict: got === undefined ? 'right' : 'guessed' },
    ]
  }
  const { value, within } = typeof expected === 'number' ? { value: expected, within: 0 } : expected
  const allowed = typeof within === 'number' ? within : (Number(within.replace('%', '')) / 100) * Math.abs(value)
  const verdict = got === undefined ? 'unknown' : Math.abs(got - value) <= allowed + 1e-9 ? 'right' : 'wrong'
  return [{ key, expected: `${value} within ${within}`, got: String(got ?? 'unknown'), verdict }]
}
