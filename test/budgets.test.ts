import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BudgetState, checkBudgets, daysOf, type PayingJob, type Spent } from '../src/budgets.ts'
import { budgetOf } from '../src/rulebook.ts'
import type { BudgetRow } from '../src/rulebook-schema.ts'
import { usDollars } from '../src/units.ts'
import { exemptionsOf } from './rules/policies.ts'

const place = { file: 'gpufare.yaml', line: 1 }

function stateOf(row: Partial<BudgetRow>, spent: Spent | number, trusted = true): BudgetState {
  const budget = budgetOf(
    { amount: 1_000, period: 'month', team: 'vision', ...row },
    { currency: usDollars, place, trusted },
  )
  return {
    budget,
    days: daysOf(budget.period, '2026-11-30'),
    spent: typeof spent === 'number' ? { amount: spent, source: 'a test', remarks: [] } : spent,
  }
}

function jobOf(p50: number | undefined, p90 = p50, more: Partial<PayingJob> = {}): PayingJob {
  return {
    name: 'train',
    place: { file: 'jobs/train.sbatch', line: 1 },
    team: 'vision',
    totalUsd: p50 === undefined || p90 === undefined ? undefined : { p10: p50, p50, p90 },
    upperBoundUsd: undefined,
    gpuHours: undefined,
    ...more,
  }
}

function findingsOf(state: BudgetState, jobs: readonly PayingJob[], exemptions = exemptionsOf([])) {
  return checkBudgets([state], jobs, { exemptions, currency: usDollars, today: '2026-11-30' })
}

const levelsOf = (state: BudgetState, jobs: readonly PayingJob[]) => findingsOf(state, jobs).map(({ level }) => level)

describe('a period', () => {
  test.each([
    ['month', '2026-11-30', '2026-11-01', '2026-11-30'],
    ['month', '2028-02-01', '2028-02-01', '2028-02-29'],
    ['quarter', '2026-11-30', '2026-10-01', '2026-12-31'],
    ['quarter', '2026-03-31', '2026-01-01', '2026-03-31'],
    ['year', '2026-06-15', '2026-01-01', '2026-12-31'],
  ] as const)('%s on %s is from %s to %s', (kind, today, from, until) => {
    expect(daysOf({ kind }, today)).toEqual({ from, until })
  })

  test('of given days counts on its first and its last and on no other', () => {
    const period = { kind: 'days', from: '2026-11-10', until: '2026-11-20' } as const
    const counting = ['2026-11-09', '2026-11-10', '2026-11-20', '2026-11-21'].map(
      day => daysOf(period, day) !== undefined,
    )
    expect(counting).toEqual([false, true, true, false])
  })
})

describe('a budget', () => {
  test.each([
    [700, 100, []],
    [700, 101, ['warn']],
    [700, 300, ['warn']],
    [700, 301, ['deny']],
    [1_001, 0, ['deny']],
  ])('of $1,000, $%i of it spent, and a job of $%i', (spent, usd, levels) => {
    expect(levelsOf(stateOf({}, spent), [jobOf(usd)])).toEqual(levels)
  })

  test('counts the P90, or the P50 where it says so', () => {
    expect(levelsOf(stateOf({}, 500), [jobOf(100, 600)])).toEqual(['deny'])
    expect(levelsOf(stateOf({ basis: 'p50' }, 500), [jobOf(100, 600)])).toEqual([])
  })

  test('counts the bound where nothing else is known, and never more than it', () => {
    expect(levelsOf(stateOf({}, 500), [jobOf(undefined, undefined, { upperBoundUsd: 600 })])).toEqual(['deny'])
    expect(levelsOf(stateOf({}, 500), [jobOf(100, 600, { upperBoundUsd: 200 })])).toEqual([])
  })

  test('has its own thresholds', () => {
    expect(levelsOf(stateOf({ 'warn-at': 50, 'deny-at': 120 }, 500), [jobOf(1)])).toEqual(['warn'])
    expect(levelsOf(stateOf({ 'warn-at': 50, 'deny-at': 120 }, 500), [jobOf(701)])).toEqual(['deny'])
  })

  test('adds up the jobs of its teams and no others, and shows the sum', () => {
    const jobs = [jobOf(150), jobOf(160), jobOf(10_000, 10_000, { team: 'nlp' })]
    expect(findingsOf(stateOf({}, 700), jobs)).toMatchObject([
      {
        rule: 'budget',
        level: 'deny',
        message:
          'budget of vision from 2026-11-01 to 2026-11-30: $700 spent and $310 (P90 of 2 jobs) are $1,010 of $1,000, 101 %; it denies above 100 %',
        remedy: 'at most $300 would pass, or wait until after 2026-11-30',
      },
    ])
  })

  test('is silent about a call without jobs of its teams', () => {
    expect(findingsOf(stateOf({}, 5_000), [jobOf(10, 10, { team: 'nlp' })])).toEqual([])
  })

  test('says which jobs it cannot count, and when it is not known what is spent', () => {
    expect(findingsOf(stateOf({}, 10), [jobOf(undefined)])).toMatchObject([
      { level: 'warn', message: 'what train costs is not known, so it is not counted in the budget of vision' },
    ])
    expect(findingsOf(stateOf({}, { missing: 'sacct did not answer in 2 s' }), [jobOf(1)])).toMatchObject([
      { level: 'warn', message: expect.stringContaining('sacct did not answer in 2 s') },
    ])
  })

  test('may be one of GPU-hours', () => {
    const state = stateOf({ amount: undefined, 'gpu-hours': 100 }, 50)
    const job = jobOf(1, 1, { gpuHours: { p10: 10, p50: 20, p90: 60 } })
    expect(findingsOf(state, [job])).toMatchObject([
      {
        level: 'deny',
        message: expect.stringContaining(
          '50 GPU-hours spent and 60 GPU-hours (P90) are 110 GPU-hours of 100 GPU-hours',
        ),
      },
    ])
    expect(levelsOf(state, [{ ...job, gpuHours: { upperBound: 40 } }])).toEqual(['warn'])
  })

  test("takes Slurm's limit where Slurm counts", () => {
    const state = stateOf(
      { amount: undefined, period: undefined, spent: { from: 'sshare', account: 'a' } },
      { amount: 90, limit: 100, source: 'sshare', remarks: [] },
    )
    expect(levelsOf(state, [jobOf(1, 1, { gpuHours: { upperBound: 11 } })])).toEqual(['deny'])
  })

  test('can be exempted in a file that is trusted as far as it is, for the paths that are meant', () => {
    const row = { rule: 'budget', until: '2026-12-31', reason: 'agreed' } as const
    const exempt = (state: BudgetState, exemptions: ReturnType<typeof exemptionsOf>) =>
      findingsOf(state, [jobOf(2_000)], exemptions)[0]?.exemption?.reason
    expect(exempt(stateOf({}, 0), exemptionsOf([row]))).toBeUndefined()
    expect(exempt(stateOf({}, 0, false), exemptionsOf([row]))).toBe('agreed')
    expect(exempt(stateOf({}, 0), exemptionsOf([row], true))).toBe('agreed')
    expect(exempt(stateOf({}, 0), exemptionsOf([{ ...row, where: { path: 'other/**' } }], true))).toBeUndefined()
    const expired = exemptionsOf([{ ...row, until: '2026-11-29' }], true)
    expect(findingsOf(stateOf({}, 0), [jobOf(2_000)], expired).map(({ rule }) => rule)).toEqual([
      'budget',
      'expired-exemption',
    ])
  })

  test('is never broken less by a dearer job', () => {
    const ranks = { within: 0, warn: 1, deny: 2 }
    const amount = fc.double({ min: 0, max: 3_000, noNaN: true })
    fc.assert(
      fc.property(amount, amount, amount, (spent, usd, more) => {
        const rank = (cost: number) => ranks[findingsOf(stateOf({}, spent), [jobOf(cost)])[0]?.level ?? 'within']
        expect(rank(usd + more)).toBeGreaterThanOrEqual(rank(usd))
      }),
    )
  })
})
