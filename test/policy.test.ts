import { describe, expect, test } from 'vitest'
import type { Finding } from '../src/finding.ts'
import { type Approval, judge } from '../src/policy.ts'
import { quoteCandidate } from '../src/quote.ts'
import { usDollars } from '../src/units.ts'
import { candidateOf, fareWith, gpuOf, hours, jobOf, machineOf, placementOf, pricesOf } from './builders.ts'

const eight = machineOf(gpuOf('a100'), 8)
const asked = candidateOf(placementOf(eight, 8), { asRequested: true })
const prices = pricesOf({ '8xa100': 22 })
const priced = fareWith([quoteCandidate(jobOf(), asked, hours(3, 4, 5), 'on-demand', prices)]) // P90: $110
const unpriced = fareWith([quoteCandidate(jobOf(), asked, hours(3, 4, 5), 'on-demand', pricesOf({}))])
const timeless = fareWith([quoteCandidate(jobOf(), asked, undefined, 'on-demand', prices)])
const nothing: Approval = { yes: false, maxCostUsd: undefined, askAboveUsd: undefined, canAsk: false }

describe('a verdict', () => {
  test('asks where a person sits at the terminal', () => {
    expect(judge([priced], { ...nothing, canAsk: true }, usDollars)).toEqual({ kind: 'ask' })
  })

  test('refuses with 4 where nobody can answer, and names the flags', () => {
    const verdict = judge([priced], nothing, usDollars)
    expect(verdict).toMatchObject({ kind: 'refuse', exitCode: 4 })
    expect(JSON.stringify(verdict)).toContain('--max-cost')
  })

  test('says why nobody can answer: without a terminal, or with one that a build machine gave', () => {
    expect(JSON.stringify(judge([priced], nothing, usDollars))).toContain('nobody to ask: no terminal.')
    const inBuild = judge([priced], { ...nothing, whyNobody: 'CI=1 says that this is a build' }, usDollars)
    expect(JSON.stringify(inBuild)).toContain('nobody to ask: CI=1 says that this is a build.')
  })

  test('of --max-cost allows the P90 up to the amount and refuses above it with 3, whatever --yes says', () => {
    expect(judge([priced], { ...nothing, maxCostUsd: 110 }, usDollars)).toMatchObject({ kind: 'allow' })
    expect(judge([priced], { ...nothing, yes: true, maxCostUsd: 109 }, usDollars)).toMatchObject({
      kind: 'refuse',
      exitCode: 3,
    })
  })

  test('of --max-cost adds up several files', () => {
    expect(judge([priced, priced], { ...nothing, maxCostUsd: 219 }, usDollars)).toMatchObject({
      kind: 'refuse',
      exitCode: 3,
    })
    expect(judge([priced, priced], { ...nothing, maxCostUsd: 220 }, usDollars)).toMatchObject({ kind: 'allow' })
  })

  test('refuses with 5 where an amount was to be compared and price or runtime is not known', () => {
    expect(judge([priced, unpriced], { ...nothing, maxCostUsd: 1_000 }, usDollars)).toMatchObject({
      kind: 'refuse',
      exitCode: 5,
    })
    expect(judge([timeless], { ...nothing, maxCostUsd: 1_000 }, usDollars)).toMatchObject({
      kind: 'refuse',
      exitCode: 5,
    })
    expect(judge([fareWith([])], { ...nothing, maxCostUsd: 1_000 }, usDollars)).toMatchObject({
      kind: 'refuse',
      exitCode: 5,
    })
  })

  test('of a threshold allows below it and asks above it', () => {
    expect(judge([priced], { ...nothing, askAboveUsd: 110, canAsk: true }, usDollars)).toMatchObject({ kind: 'allow' })
    expect(judge([priced], { ...nothing, askAboveUsd: 109, canAsk: true }, usDollars)).toEqual({ kind: 'ask' })
    expect(judge([unpriced], { ...nothing, askAboveUsd: 109, canAsk: true }, usDollars)).toEqual({ kind: 'ask' })
  })

  test('of --yes allows what has no price', () => {
    expect(judge([unpriced], { ...nothing, yes: true }, usDollars)).toMatchObject({ kind: 'allow' })
  })
})

describe('what a policy finds', () => {
  const finding: Finding = {
    rule: 'job-cost',
    level: 'deny',
    jobName: 'train',
    place: { file: 'train.sbatch', line: 4 },
    message: '$88 (P50) is over $50',
    remedy: 'on 8x L40S it would cost about $41 in 4h05m',
  }
  const exemption = {
    rule: 'job-cost',
    reason: 'agreed',
    until: '2026-12-31',
    place: { file: 'gpufare.yaml', line: 9 },
  }
  const verdict = (findings: readonly Finding[], approval: Partial<Approval>) =>
    judge([priced], { ...nothing, ...approval }, usDollars, findings)

  test('and denies is refused with 3 whoever approved it, with place, figures and the smallest change', () => {
    for (const approval of [{ yes: true }, { maxCostUsd: 1_000 }, { askAboveUsd: 1_000 }, { canAsk: true }]) {
      expect(verdict([finding], approval)).toMatchObject({ kind: 'refuse', exitCode: 3 })
    }
    expect(JSON.stringify(verdict([finding], { yes: true }))).toContain(
      'train.sbatch:4  job-cost: $88 (P50) is over $50',
    )
    expect(JSON.stringify(verdict([finding], { yes: true }))).toContain(finding.remedy)
  })

  test('and only warns of stops nothing, nor does what is exempt', () => {
    expect(verdict([{ ...finding, level: 'warn' }], { yes: true })).toMatchObject({ kind: 'allow' })
    expect(verdict([{ ...finding, exemption }], { yes: true })).toMatchObject({ kind: 'allow' })
  })

  test('cannot order a terminal about by the names in it', () => {
    const refused = verdict([{ ...finding, message: 'red \u001b[31m\rgone' }], { yes: true })
    const text = refused.kind === 'refuse' ? refused.reasons.join('\n') : ''
    expect(text).toContain('red ')
    expect(['\u001b', '\r'].filter(order => text.includes(order))).toEqual([])
  })
})
