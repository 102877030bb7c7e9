import { csvCell } from '../escaping.ts'
import type { Outcome } from './outcome.ts'
import { isWithin, type Review, runtimeError, unitCost } from './summary.ts'

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1

/** A review as plain data, US dollars, seconds and shares; `gpufare-review.schema.json` describes it. */
export function reviewDocument({ sinceSeconds, untilSeconds, outcomes, ...more }: Review): object {
  const { by, total, groups, weeks, baselines } = more
  return {
    schemaVersion,
    since: new Date(sinceSeconds * 1_000).toISOString(),
    until: new Date(untilSeconds * 1_000).toISOString(),
    jobs: outcomes.map(jobOf),
    total,
    by,
    groups,
    weeks,
    baselines,
  }
}

/** One row a job, with a head line. */
export function reviewRows({ outcomes }: Review): string {
  const rows = outcomes.map(outcome => {
    const { quoted, waste, endings: _, unitCost: unit, ...rest } = jobOf(outcome)
    const { runtimeSeconds, usd } = quoted
    return {
      ...rest,
      basis: quoted.basis,
      quotedP10Seconds: runtimeSeconds?.p10,
      quotedP50Seconds: runtimeSeconds?.p50,
      quotedP90Seconds: runtimeSeconds?.p90,
      quotedUpperBoundSeconds: quoted.runtimeUpperBoundSeconds,
      quotedP50Usd: usd?.p50,
      quotedUpperBoundUsd: quoted.upperBoundUsd,
      ...waste,
      unitUsd: unit?.usd,
      unit: unit?.unit,
    }
  })
  const head = [
    ...[
      'id',
      'cluster',
      'name',
      'user',
      'team',
      'submitted',
      'gpus',
      'ending',
      'restarts',
      'runtimeSeconds',
      'gpuHours',
    ],
    ...['usd', 'runtimeError', 'withinRange', 'idleShare', 'basis', 'quotedP10Seconds', 'quotedP50Seconds'],
    ...[
      'quotedP90Seconds',
      'quotedUpperBoundSeconds',
      'quotedP50Usd',
      'quotedUpperBoundUsd',
      'failedUsd',
      'timedOutUsd',
    ],
    ...['cancelledUsd', 'interruptedUsd', 'idleUsd', 'unitUsd', 'unit'],
  ]
  const lines = rows.map(row => {
    const cells = new Map<string, unknown>(Object.entries(row))
    return head.map(name => cellOf(cells.get(name))).join(',')
  })
  return [head.join(','), ...lines].join('\n')
}

function cellOf(value: unknown): string {
  return csvCell(typeof value === 'number' ? value : value === undefined ? undefined : String(value))
}

function jobOf(outcome: Outcome) {
  const { id, cluster, name, user, team, submitSeconds, quoted, ending, endings, restarts, runtimeSeconds } = outcome
  const { gpuHours, usd, waste, idleShare } = outcome
  return {
    id,
    cluster,
    name,
    user,
    team,
    submitted: new Date(submitSeconds * 1_000).toISOString(),
    gpus: quoted.gpuModel,
    quoted: {
      basis: quoted.basis,
      runtimeSeconds: quoted.runtimeSeconds,
      runtimeUpperBoundSeconds: quoted.runtimeUpperBoundSeconds,
      usd: quoted.usd,
      upperBoundUsd: quoted.upperBoundUsd,
    },
    ending,
    endings: Object.fromEntries(endings),
    restarts,
    runtimeSeconds,
    gpuHours,
    usd,
    runtimeError: runtimeError(outcome),
    withinRange: isWithin(outcome),
    waste,
    idleShare,
    unitCost: unitCost(outcome),
  }
}
