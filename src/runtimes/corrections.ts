import { describeGpus } from '../candidates.ts'
import { countOf, formatDuration, formatPercent } from '../units.ts'
import { fingerprintOf } from './fingerprint.ts'
import { sigmaOf } from './known-run.ts'
import { type LearntError, learntError } from './learnt-error.ts'
import { type CorrectingRun, type Correction, type Corrections, rangeAround, type Working } from './runtime-model.ts'

/** A run as it is kept. */
export interface LearntRun extends CorrectingRun {
  /** Of its quote. */
  readonly key: string
  readonly fingerprint: string
  /** As they are shown: `8x A100-80GB`. */
  readonly gpus: string
  readonly name: string
}

/** The newest that count: what is older was perhaps another program. */
const latestRuns = 20

/** Numbers of jobs that are named. */
const namedRuns = 5

/**
 * Corrections by runs that were quoted, found by their fingerprint. On GPUs that a job never ran on it is corrected as on those it had, so
 * that candidates stay comparable, and no range becomes narrower by it.
 */
export function correctionsOf(runsOf: (fingerprint: string) => readonly LearntRun[]): Corrections {
  return {
    correct(estimate, job, workloads, candidate) {
      const fingerprint = fingerprintOf(job, workloads, estimate.basis)
      const alike = fingerprint === undefined ? [] : runsOf(fingerprint)
      const here = describeGpus(candidate)
      const gpus = alike.some(run => run.gpus === here && !run.isStopped) ? here : mostOften(alike)
      const used = alike
        .filter(run => run.gpus === gpus)
        .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
        .slice(0, latestRuns)
      const claimed = sigmaOf(estimate.seconds)
      const error = learntError(used, claimed)
      if (fingerprint === undefined || gpus === undefined || error === undefined) return estimate
      const sigma = gpus === here ? error.sigma : Math.max(error.sigma, claimed)
      const correction: Correction = {
        factor: error.factor,
        estimatedSeconds: estimate.seconds,
        fingerprint,
        gpus,
        runs: used.map(({ id, at, estimatedSeconds, seconds, isStopped }) => ({
          id,
          at,
          estimatedSeconds,
          seconds,
          ...(isStopped && { isStopped }),
        })),
      }
      return {
        ...estimate,
        seconds: rangeAround(estimate.seconds.p50 * error.factor, sigma),
        correction,
        working: [...estimate.working, ...workingOf(correction, error, claimed, sigma)],
      }
    },
  }
}

/** GPUs that most runs were completed on. */
function mostOften(runs: readonly LearntRun[]): string | undefined {
  const counts = new Map<string, number>()
  for (const { gpus, isStopped } of runs) if (!isStopped) counts.set(gpus, (counts.get(gpus) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
}

function workingOf(
  { factor, estimatedSeconds: { p10, p50, p90 }, fingerprint, gpus, runs }: Correction,
  { seen, credibility }: LearntError,
  claimed: number,
  sigma: number,
): readonly Working[] {
  const done = runs.filter(({ isStopped }) => !isStopped)
  const stopped = runs.length - done.length
  const bounds = stopped === 0 ? '' : `, and ${countOf(stopped, 'run')} that the time limit stopped`
  const named = runs.slice(0, namedRuns).map(({ id, at }) => `${id} of ${at.slice(0, 10)}`)
  const more = runs.length > named.length ? `, and ${runs.length - named.length} before` : ''
  return [
    {
      what: 'before correction',
      figure: `${formatDuration(p50)} (${formatDuration(p10)}-${formatDuration(p90)})`,
      origin: { kind: 'computed', formula: 'the figures above' },
    },
    {
      what: 'correction by earlier quotes',
      figure: `x${factor.toFixed(2)}: ${countOf(done.length, 'run')} on ${gpus}${bounds} took x${seen.toFixed(2)} of what was estimated, ${formatPercent(credibility)} of it counts; jobs ${named.join(', ')}${more}`,
      origin: {
        kind: 'computed',
        formula: `runs / (runs + noise / lasting error) of the mean logarithm; gpufare review --forget ${fingerprint} drops it`,
      },
    },
    {
      what: 'range by earlier quotes',
      figure: `spread ${sigma.toFixed(2)}, ${claimed.toFixed(2)} before`,
      origin: { kind: 'computed', formula: 'by how these runs scattered, and how few they are' },
    },
  ]
}
