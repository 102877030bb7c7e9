import type { Sourced } from '../sourced.ts'
import { countOf, formatCount, formatDuration, formatGibFinely, formatPercent } from '../units.ts'
import type { CounterUnit } from './log-reader.ts'
import type { RunProgress } from './run-progress.ts'

/** One count, and many. */
const unitWords: Readonly<Record<CounterUnit, readonly [string, string]>> = {
  'optimizer-step': ['step', 'steps'],
  'micro-step': ['batch', 'batches'],
  sample: ['sample', 'samples'],
  token: ['token', 'tokens'],
  epoch: ['epoch', 'epochs'],
  other: ['count', 'counts'],
  none: ['count', 'counts'],
}

const outcomeWords: Readonly<Record<RunProgress['outcome'], string>> = {
  finished: 'finished',
  running: 'running, or ended without a word',
  'time-limit': 'ended by its time limit',
  oom: 'out of memory',
  crashed: 'ended with an error',
  cancelled: 'cancelled',
  unknown: 'nothing tells how it ended',
}

/** What a log tells, in lines of plain words; what stands in the log has its line, what follows from it says so. */
export function describeProgress(progress: RunProgress): readonly string[] {
  const [one, units] = unitWords[progress.unit]
  const { stepsDone, stepsTotal, secondsPerStep } = progress
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['program', progress.framework ?? 'not known'],
    ['outcome', outcomeWords[progress.outcome]],
    [
      units,
      shown(stepsDone, done =>
        stepsTotal === undefined ? formatCount(done) : `${formatCount(done)} of ${formatCount(stepsTotal.value)}`,
      ),
    ],
    ['epochs', progress.unit === 'epoch' ? undefined : epochsOf(progress)],
    [`each ${one}`, shown(secondsPerStep, secondsWords)],
    ['samples', shown(progress.samplesPerSecond, rate => `${rateWords(rate)}/s`)],
    ['tokens', shown(progress.tokensPerSecond, rate => `${rateWords(rate)}/s`)],
    ['batch', shown(progress.globalBatch, batch => countOf(batch, 'sample'))],
    ['start-up', shown(progress.startedToFirstStepSeconds, formatDuration)],
    ['elapsed', shown(progress.elapsedSeconds, formatDuration)],
    ['time left', shown(progress.remainingSeconds, formatDuration)],
    ['waits for data', shown(progress.dataShare, formatPercent)],
    ['peak memory', shown(progress.peakMemoryBytes, formatGibFinely)],
    ['processes', shown(progress.worldSize, formatCount)],
  ]
  const known = rows.flatMap(([name, text]) => (text === undefined ? [] : [`${name.padEnd(16)}${text}`]))
  const warnings = progress.warnings.map(({ text, line }) =>
    line === undefined ? `! ${text}` : `! ${text} (line ${line})`,
  )
  return [...known, ...warnings]
}

function shown(figure: Sourced<number> | undefined, words: (value: number) => string): string | undefined {
  if (figure === undefined) return undefined
  const { value, origin } = figure
  if (origin.kind === 'file') return `${words(value)}  (line ${origin.place.line})`
  return origin.kind === 'computed' ? `${words(value)}  (${origin.formula})` : words(value)
}

function epochsOf({ epochsDone, epochsTotal }: RunProgress): string | undefined {
  if (epochsDone === undefined) return epochsTotal === undefined ? undefined : `of ${formatCount(epochsTotal.value)}`
  return epochsTotal === undefined
    ? formatCount(epochsDone.value)
    : `${formatCount(epochsDone.value)} of ${formatCount(epochsTotal.value)}`
}

/** Three figures are what a rate can bear. */
function secondsWords(seconds: number): string {
  return seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`
}

function rateWords(rate: number): string {
  return rate >= 100 ? formatCount(rate) : String(Number(rate.toPrecision(3)))
}
