import { createHash } from 'node:crypto'
import type { EarlierRun } from '../history/earlier-run.ts'
import { isTelling, maskedName } from '../history/names.ts'
import { once } from '../once.ts'

const pseudonym = /^[a-p]{10}(-\d{10})?$/

/** A short digest, for texts that may hold secrets; undefined for an empty one. */
export function digestOf(text: string): string | undefined {
  return text === '' ? undefined : lettersOf(text)
}

/**
 * A name that is recognised but not read: letters stand for the name without its digits, the number for all of it, so that
 * names that differ by a counter stay alike. A pseudonym and a name that says nothing (`wrap`) stay as they are. It is no secret:
 * whoever guesses the name can check the guess.
 */
export function pseudonymOf(name: string): string {
  if (!isTelling(name) || pseudonym.test(name)) return name
  const number = BigInt(`0x${sha256(name).slice(0, 16)}`) % 10_000_000_000n
  return `${lettersOf(maskedName(name))}-${number.toString().padStart(10, '0')}`
}

/** Masks pseudonyms: what `maskedName(pseudonymOf(name))` is, with one digest for all names that only a counter tells apart. */
export function pseudonymMasker(): (name: string) => string {
  const letters = once(lettersOf)
  return once(name => {
    const mask = maskedName(name)
    return !isTelling(name) || pseudonym.test(name) ? mask : `${letters(mask)}-#`
  })
}

/** The same run under pseudonyms; partition and QOS are no personal data. */
export function withPseudonyms(run: EarlierRun): EarlierRun {
  return { ...run, name: pseudonymOf(run.name), user: personOf(run.user), account: personOf(run.account) }
}

/** A user or account under a pseudonym; one stays as it is. */
export function personOf(name: string): string {
  return name === '' || pseudonym.test(name) ? name : lettersOf(name)
}

/** Ten letters from a to p, of 40 bits. */
function lettersOf(text: string): string {
  return sha256(text)
    .slice(0, 10)
    .replace(/./g, digit => String.fromCharCode(97 + Number.parseInt(digit, 16)))
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
