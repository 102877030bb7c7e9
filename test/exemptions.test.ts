import { describe, expect, test } from 'vitest'
import { readDeclarations } from '../src/declarations.ts'
import type { Exemption, Finding } from '../src/finding.ts'
import { checkRules } from '../src/rules/index.ts'
import { fareWith, jobOf } from './builders.ts'
import { configWith, exemptionsOf } from './rules/policies.ts'

const today = '2026-11-30'
const declared: Exemption = {
  rule: 'required-tags',
  reason: 'the paper',
  until: '2026-12-31',
  place: { file: 'job.sbatch', line: 3 },
}
const written = { rule: 'required-tags' as const, until: '2026-12-31', reason: 'agreed' }

interface Situation {
  readonly level?: 'warn' | 'deny'
  readonly trustedPolicy?: boolean
  readonly selfExempt?: boolean
  readonly declared?: readonly Exemption[]
  readonly written?: Parameters<typeof exemptionsOf>[0]
  readonly trustedFile?: boolean
}

/** Findings of a job that names no team, where one is required. */
function findingsIn(given: Situation): readonly Finding[] {
  const policy = {
    rule: 'required-tags' as const,
    tags: ['team' as const],
    level: given.level ?? 'warn',
    'self-exempt': given.selfExempt ?? false,
  }
  const config = configWith([policy], {}, given.trustedPolicy)
  const exemptions = exemptionsOf(given.written ?? [], given.trustedFile)
  const job = jobOf({ declarations: { exemptions: given.declared ?? [] } })
  return checkRules(fareWith([], { job }), { ...config, exemptions }, { today })
}

function isExempt(given: Situation): boolean {
  return findingsIn(given).every(finding => finding.exemption !== undefined)
}

describe('an exemption', () => {
  test('stays in the report, with its reason, last day and place', () => {
    expect(findingsIn({ declared: [declared] })).toMatchObject([{ rule: 'required-tags', exemption: declared }])
  })

  test('of a manifest lifts what warns, and what denies only where the policy lets it', () => {
    expect(isExempt({ declared: [declared], level: 'warn', trustedPolicy: true })).toBe(true)
    expect(isExempt({ declared: [declared], level: 'deny' })).toBe(false)
    expect(isExempt({ declared: [declared], level: 'deny', selfExempt: true, trustedPolicy: true })).toBe(true)
  })

  test('of a manifest that does not count says so', () => {
    const [finding] = findingsIn({ declared: [declared], level: 'deny' })
    expect(finding?.remedy).toContain('the exemption in line 3 does not count')
  })

  test("of a repository's file lifts the repository's policies and no trusted one", () => {
    expect(isExempt({ written: [written], level: 'deny' })).toBe(true)
    expect(isExempt({ written: [written], level: 'deny', trustedPolicy: true })).toBe(false)
    expect(isExempt({ written: [written], level: 'deny', trustedPolicy: true, trustedFile: true })).toBe(true)
  })

  test('is about its own rule and its own jobs', () => {
    expect(isExempt({ declared: [{ ...declared, rule: 'job-cost' }] })).toBe(false)
    expect(isExempt({ written: [{ ...written, where: { path: 'other/**' } }] })).toBe(false)
    expect(isExempt({ written: [{ ...written, where: { path: '*.sbatch' } }] })).toBe(true)
  })

  test('holds on its last day, and is a denial of its own from the next day on', () => {
    expect(isExempt({ declared: [{ ...declared, until: today }] })).toBe(true)
    const findings = findingsIn({ declared: [{ ...declared, until: '2026-11-29' }] })
    expect(findings).toMatchObject([
      { rule: 'required-tags', level: 'warn' },
      {
        rule: 'expired-exemption',
        level: 'deny',
        place: declared.place,
        message: expect.stringContaining('from required-tags ended on 2026-11-29 (the paper)'),
      },
    ])
    expect(findings.some(finding => finding.exemption !== undefined)).toBe(false)
  })

  test('that is expired is nothing to a job that breaks no rule', () => {
    const config = configWith([{ rule: 'gpu-count', limit: 100 }])
    const job = jobOf({ declarations: { exemptions: [{ ...declared, rule: 'gpu-count', until: '2020-01-01' }] } })
    expect(checkRules(fareWith([], { job }), config, { today })).toEqual([])
  })
})

describe('exempt lines', () => {
  const read = (...values: string[]) =>
    readDeclarations(values.map((value, index) => ({ key: 'exempt', value, place: { file: 'a', line: index + 1 } })))

  test('count all, several of one annotation too', () => {
    expect(
      read('job-cost until 2026-12-31: the paper', 'budget until 2027-01-31: a: b').declarations.exemptions,
    ).toEqual([
      { rule: 'job-cost', until: '2026-12-31', reason: 'the paper', place: { file: 'a', line: 1 } },
      { rule: 'budget', until: '2027-01-31', reason: 'a: b', place: { file: 'a', line: 2 } },
    ])
    expect(read('job-cost until 2026-12-31: x\nruntime until 2026-12-31: y\n').declarations.exemptions).toHaveLength(2)
  })

  test.each([
    'job-cost',
    'job-cost until 2026-12-31',
    'job-cost until 2026-12-31:',
    'job-cost until 2026-02-30: x',
    'job-cost until tomorrow: x',
    'everything until 2026-12-31: x',
    'job-cost until 2026-12-31: x\nand more',
  ])('%j is a fault', value => {
    expect(read(value)).toMatchObject({ declarations: {}, faults: [{ place: { line: 1 } }] })
  })
})
