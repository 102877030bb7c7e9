import { describe, expect, it } from 'vitest'
import { spreadOf } from '../../src/runtimes/sightings.ts'

const took = (seconds: number, sigma = 0.1) => ({ seconds, sigma, atLeast: false })
const atLeast = (seconds: number) => ({ seconds, sigma: 0.1, atLeast: true })

describe('the next run by earlier ones', () => {
  it('is as one run was, and spreads as far as one run alone leaves open', () => {
    const next = spreadOf([took(3_600, 0.25)])
    expect(next?.p50).toBeCloseTo(3_600, 6)
    expect(next?.sigma).toBeCloseTo(0.25, 12)
  })

  it('is between several, and closer to them the more alike they were', () => {
    const alike = spreadOf([took(3_600), took(3_600), took(3_600), took(3_600)])
    const apart = spreadOf([took(1_800), took(7_200)])
    expect(alike?.p50).toBeCloseTo(3_600, 6)
    expect(apart?.p50).toBeCloseTo(3_600, 6)
    // a quarter of 0.1² / 2, and as much again over four for the median: sqrt(0.00125 x 1.25)
    expect(alike?.sigma).toBeCloseTo(0.0395, 4)
    // (2 x ln(2)² + 0.1² / 2) / 2 x 1.5, of which the root
    expect(apart?.sigma).toBeCloseTo(0.851, 3)
  })

  it('is drawn up by a run that was stopped later than others ended, and left alone by one stopped early', () => {
    const alone = spreadOf([took(3_600), took(3_700)])
    const longer = spreadOf([took(3_600), took(3_700), atLeast(5_000)])
    const early = spreadOf([took(3_600), took(3_700), atLeast(60)])
    expect(longer?.p50).toBeGreaterThan(3_900)
    expect(longer?.sigma ?? 0).toBeGreaterThan(alone?.sigma ?? 1)
    expect(early?.p50).toBeCloseTo(alone?.p50 ?? 0, 0)
  })

  it('is not known by bounds alone', () => {
    expect(spreadOf([atLeast(3_600), atLeast(7_200)])).toBeUndefined()
    expect(spreadOf([])).toBeUndefined()
  })
})
