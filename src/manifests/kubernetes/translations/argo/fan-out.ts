import { isMapping, type Mapping, valueAt } from '../../../../document.ts'
import { asText, fill, fillText, type Scope } from './parameters.ts'

/** How often a step or task runs. */
export type FanOut =
  /** Once for each item. */
  | { readonly kind: 'items'; readonly items: readonly unknown[] }
  /** So often that its runs are only counted. */
  | { readonly kind: 'count'; readonly count: number }
  /** As the output of another step says. */
  | { readonly kind: 'unknown'; readonly source: string }

/** Items that are told apart; beyond, runs are only counted. */
const MOST_ITEMS = 500

/** What `withItems`, `withSequence` or `withParam` of a step says; undefined where it runs once. */
export function fanOutOf(step: Mapping, scope: Scope): FanOut | undefined {
  if (Array.isArray(step['withItems'])) return listed(step['withItems'].map(item => fill(item, scope)))
  if (isMapping(step['withSequence'])) return sequence(step['withSequence'], scope)
  if (step['withParam'] == null) return undefined
  const written = fillText(asText(step['withParam']), scope)
  const items = parseList(written)
  return items === undefined ? { kind: 'unknown', source: written.trim() } : listed(items)
}

function listed(items: readonly unknown[]): FanOut {
  return items.length > MOST_ITEMS ? { kind: 'count', count: items.length } : { kind: 'items', items }
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** `count` from `start` on, or `start` to `end`, either way round (workflow/util, expandSequence). */
function sequence(written: Mapping, scope: Scope): FanOut {
  const texts = (['count', 'start', 'end'] as const).map(key =>
    written[key] == null ? undefined : fillText(asText(written[key]), scope),
  )
  const [count, start = 0, end] = texts.map(text => (text === undefined ? undefined : Number(text)))
  const known = [count, start, end].every(each => each === undefined || Number.isInteger(each))
  if (!known || (count === undefined && end === undefined)) {
    return { kind: 'unknown', source: texts.find(text => text?.includes('{{')) ?? 'its sequence' }
  }
  const last = count === undefined ? (end ?? start) : start + count - 1
  const length = count ?? Math.abs(last - start) + 1
  if (length > MOST_ITEMS) return { kind: 'count', count: length }
  const step = last < start && count === undefined ? -1 : 1
  return { kind: 'items', items: Array.from({ length: Math.max(0, length) }, (_, index) => start + step * index) }
}

/** A condition beyond this compares nothing that is known here. */
const LONGEST = 1_000
const COMPARISON = /^\s*["']?(.*?)["']?\s*(==|!=|>=|<=|>|<|=~)\s*["']?(.*?)["']?\s*$/

/** Whether a step's condition holds: undefined where that shows only when the workflow runs. */
export function holds(step: Mapping, scope: Scope): boolean | undefined {
  const when = valueAt(step, ['when'])
  if (when == null) return true
  const text = fillText(asText(when), scope)
  if (/^\s*(true|false)\s*$/.test(text)) return text.trim() === 'true'
  const match = text.length > LONGEST || /\{\{|&&|\|\|/.test(text) ? null : COMPARISON.exec(text)
  if (match === null) return undefined
  const [, left = '', operator = '', right = ''] = match
  const [a, b] = [left, right].map(side => (side.trim() === '' ? Number.NaN : Number(side)))
  if (operator === '==') return left === right || a === b
  if (operator === '!=') return left !== right && a !== b
  if (a === undefined || b === undefined || Number.isNaN(a) || Number.isNaN(b)) return undefined
  return { '>': a > b, '<': a < b, '>=': a >= b, '<=': a <= b }[operator]
}
