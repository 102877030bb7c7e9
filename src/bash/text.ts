/**
 * Text of which some parts are only known when the job runs. Such a part is a mark: what was written there (`$SLURM_PROCID`)
 * in characters that mean nothing to bash, so that it survives word splitting and a second parse by `bash -c`.
 */
const OPEN = '\uFDD0'
const CLOSE = '\uFDD1'
/** First of the private-use characters that stand for the written ones. */
const HIDDEN = 0xe100
const MARK = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, 'g')
const ONLY_MARKS = new RegExp(`^(?:${OPEN}[^${CLOSE}]*${CLOSE})+$`)

/** What every text with an unknown part holds. */
export const unknownMark = OPEN

/** A mark for what was written. */
export function unknownText(written: string): string {
  const hidden = Array.from(showText(written), character => {
    const code = character.charCodeAt(0)
    return code < 0x80 ? String.fromCharCode(HIDDEN + code) : character
  })
  return OPEN + hidden.join('') + CLOSE
}

/** Whether every part is known. */
export function isKnown(text: string): boolean {
  return !text.includes(OPEN)
}

/** Whether nothing of it is known. */
export function isUnknown(text: string): boolean {
  return ONLY_MARKS.test(text)
}

/** The text with unknown parts as they were written. */
export function showText(text: string): string {
  if (isKnown(text)) return text
  return text.replaceAll(MARK, (_, hidden: string) =>
    Array.from(hidden, character => {
      const code = character.charCodeAt(0) - HIDDEN
      return code >= 0 && code < 0x80 ? String.fromCharCode(code) : character
    }).join(''),
  )
}

/**
 * What two courses of a script agree on: the longer text where it only adds to the shorter one (the addition becomes a
 * mark in brackets, `[--resume]`), else a mark for the variable.
 */
export function mergeTexts(a: string, b: string, name: string): string {
  if (a === b) return a
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a]
  if (!longer.startsWith(shorter)) return unknownText(`$${name}`)
  const added = longer.slice(shorter.length)
  const blank = /^\s*/.exec(added)?.[0] ?? ''
  return `${shorter}${blank}${unknownText(`[${added.trim()}]`)}`
}

/** Stands for one word, or one field of a line, of which only that is known. */
const ONE_FIELD = unknownText('…')

/** Whether each unknown part is one word or field, so that they can be counted. */
export function hasKnownFields(text: string): boolean {
  return isKnown(text.replaceAll(ONE_FIELD, ''))
}

/** What two texts of as many words have in common, word for word; where they differ, a mark. */
export function mergeWords(a: string, b: string): string {
  if (a === b) return a
  // Fields of a table count as words where both texts have the same.
  for (const separators of [/(\s*[,;|]\s*|\s+)/, /(\s+)/]) {
    const [some, others] = [a.trim().split(separators), b.trim().split(separators)]
    if (some.length !== others.length) continue
    return some.map((word, index) => (index % 2 === 1 || word === others[index] ? word : ONE_FIELD)).join('')
  }
  return unknownText('… …')
}

/** Lines of a text that are looked at to find what all have in common. */
const MOST_LINES = 10_000

/** What all lines of a text have in common, where which of them is meant is only known when the job runs. */
export function anyLine(text: string): string | undefined {
  const [first, ...others] = text.split('\n', MOST_LINES + 1).filter(line => line.trim() !== '')
  if (first === undefined || others.length >= MOST_LINES) return undefined
  return others.reduce(mergeWords, first.trim())
}

/** Stars in a pattern; each multiplies the time that a match may take by the length of the text. */
const MOST_STARS = 4
/** Longest text that is matched against a pattern. */
const LONGEST_MATCHED = 2_000

/** Whether a text is short enough to be matched in no time. */
export function isShort(text: string): boolean {
  return text.length <= LONGEST_MATCHED
}

/** A regular expression of bash, or undefined where its match may take forever or JavaScript does not know it. */
export function toRegExp(pattern: string): RegExp | undefined {
  const repeatsRepetition = /\([^)]*[+*}][^)]*\)[+*{]/.test(pattern)
  if (repeatsRepetition || pattern.length > 200 || pattern.includes('[:')) return undefined
  try {
    return new RegExp(pattern)
  } catch {
    return undefined
  }
}

/** A glob pattern of bash as a regular expression over the whole text, or undefined where it is too much for one. */
export function globToRegExp(
  pattern: string,
  reach: 'whole' | 'prefix' | 'suffix' | 'any',
  greedy = true,
): RegExp | undefined {
  const stars = pattern.split('*').length - 1
  if (!isKnown(pattern) || stars > MOST_STARS || /[?*+@!]\(/.test(pattern)) return undefined
  const star = greedy ? '[\\s\\S]*' : '[\\s\\S]*?'
  const body = pattern.replace(/\\(.)|\[!?[^\]]+\]|[\s\S]/g, (piece, escaped: string | undefined) => {
    if (escaped !== undefined) return escapeRegExp(escaped)
    if (piece === '*') return star
    if (piece === '?') return '[\\s\\S]'
    if (piece.length > 1) return piece.replace(/^\[!/, '[^')
    return escapeRegExp(piece)
  })
  const start = reach === 'whole' || reach === 'prefix' ? '^' : ''
  const end = reach === 'whole' || reach === 'suffix' ? '$' : ''
  try {
    return new RegExp(`${start}(?:${body})${end}`)
  } catch {
    return undefined
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
