import type { Finding } from '../finding.ts'
import { hashOf } from '../hash.ts'

/**
 * What tells a finding from others and stays when lines move or figures change: rule, file and job, counted where one job breaks
 * a rule more than once. Services that keep findings over time show only the first of two that have the same.
 */
export function fingerprintsOf(findings: readonly Finding[]): readonly string[] {
  const seen = new Map<string, number>()
  return findings.map(({ rule, place, jobName }) => {
    const key = JSON.stringify([rule, place.file, jobName])
    const count = seen.get(key) ?? 0
    seen.set(key, count + 1)
    return hashOf(`${key}${count}`)
  })
}
