const NULLS: ReadonlySet<string> = new Set(['', '~', 'null', 'Null', 'NULL'])
const TRUE: ReadonlySet<string> = new Set('y Y yes Yes YES true True TRUE on On ON'.split(' '))
const FALSE: ReadonlySet<string> = new Set('n N no No NO false False FALSE off Off OFF'.split(' '))
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/

/** A bare word as go-yaml's resolve.go reads it, and as kubectl then writes it to JSON: no dates, no base 60. */
export function bareWordOfKubectl(text: string): unknown {
  if (NULLS.has(text)) return null
  if (TRUE.has(text)) return true
  if (FALSE.has(text)) return false
  if (!/^[-+.0-9]/.test(text)) return text
  if (/^[-+]?\.(inf|Inf|INF)$/.test(text)) return Number.POSITIVE_INFINITY
  if (/^\.(nan|NaN|NAN)$/.test(text)) return Number.NaN
  // go-yaml takes underscores out of numbers, but not of those that begin with a point.
  const digits = text.startsWith('.') ? text : text.replaceAll('_', '')
  const whole = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+))$/.exec(digits)
  if (whole !== null) {
    const [, sign, hexadecimal, binary, octal = ''] = whole
    const magnitude = hexadecimal
      ? Number.parseInt(hexadecimal, 16)
      : binary
        ? Number.parseInt(binary, 2)
        : Number.parseInt(octal, 8)
    return sign === '-' && magnitude !== 0 ? -magnitude : magnitude
  }
  return decimal(digits, text)
}

/** A bare word as YAML 1.2's core schema reads it. */
export function bareWordOfCore(text: string): unknown {
  if (NULLS.has(text)) return null
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  if (/^(?:false|False|FALSE)$/.test(text)) return false
  if (!/^[-+.0-9]/.test(text)) return text
  if (/^[-+]?\.(?:inf|Inf|INF)$/.test(text)) return Number.POSITIVE_INFINITY
  if (/^\.(?:nan|NaN|NAN)$/.test(text)) return Number.NaN
  if (/^0o[0-7]+$/.test(text)) return Number.parseInt(text.slice(2), 8)
  if (/^0x[0-9a-fA-F]+$/.test(text)) return Number.parseInt(text.slice(2), 16)
  return decimal(text, text)
}

function decimal(digits: string, text: string): number | string {
  const value = FLOAT.test(digits) ? Number(digits) : Number.NaN
  return Number.isFinite(value) ? value + 0 : text
}
