import type { Finding } from '../finding.ts'

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
    return hash(`${key}${count}`)
  })
}

/** FNV-1a, 64 bits (RFC 9923), as hexadecimal digits: short names for texts, no proof against forgery. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) {
    value = ((value ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn
  }
  return value.toString(16).padStart(16, '0')
}
