import { findBreaches } from './breaches.ts'
import { type Another, asksFor, type Choice, describeDestination, describeFares, optionsFor } from './choice.ts'
import { GpufareError } from './errors.ts'
import { plainText } from './escaping.ts'
import { counts, describeFinding, type Finding } from './finding.ts'
import { diffLines } from './line-diff.ts'
import { retarget } from './manifests/index.ts'
import { judge, type Verdict } from './policy.ts'
import { ask, type Dialogue } from './prompt.ts'
import { type QuotedManifest, quoteText } from './quoted-manifests.ts'
import { type Handover, handoverOf, type ManifestChanged } from './schedulers/index.ts'
import { atKeyboard, loadPaint, type Terminal, tell, whyNobodyIsAsked } from './terminal.ts'

/** What was approved before anybody could be asked. */
export interface Approved {
  readonly yes?: true
  /** In the currency of the configuration. */
  readonly maxCost?: number
  /** Say nothing about why no question was asked. */
  readonly quiet?: true
}

/** The manifests of one call; there is no call without one. */
export type Quoted = readonly [QuotedManifest, ...QuotedManifest[]]

/** A manifest on its way, with what was quoted for it. */
export interface Agreed extends Handover {
  readonly quoted: QuotedManifest
  /** The manifest as it was written, where another candidate was chosen. */
  readonly insteadOf?: QuotedManifest
}

/**
 * What is to be handed over: by the policy alone, or as the person at the terminal chooses. Throws GpufareError, with 3,
 * 4 or 5, where nothing is. `showAll` prints every candidate; without it the manifests are only to be had as they are.
 */
export async function agree(
  quoted: Quoted,
  approved: Approved,
  terminal: Terminal,
  showAll?: () => Promise<void>,
): Promise<readonly Agreed[]> {
  const findings = await findBreaches(quoted, { environment: terminal.environment, today: today() })
  showWarnings(findings, terminal)
  const pipedIn = quoted.some(({ manifest }) => manifest.name === 'standard input')
  const decide = (seat: Terminal) => decideAt(seat, quoted, findings, approved, showAll)
  return pipedIn ? atKeyboard(terminal, decide) : decide(terminal)
}

async function decideAt(
  terminal: Terminal,
  quoted: Quoted,
  findings: readonly Finding[],
  approved: Approved,
  showAll?: () => Promise<void>,
): Promise<readonly Agreed[]> {
  const verdict = verdictOn(quoted, approved, terminal, findings)
  if (verdict.kind === 'refuse') throw new GpufareError(verdict.reasons.join('\n'), verdict.exitCode)
  if (verdict.kind === 'ask') return askAbout(quoted, terminal, showAll)
  if (approved.quiet !== true) tell(terminal, `no question asked: ${verdict.because}`)
  return quoted.map(asWritten)
}

/** What of the policies does not stop the jobs: warnings, and what is let pass. */
function showWarnings(findings: readonly Finding[], terminal: Terminal): void {
  const passing = findings.filter(finding => finding.level === 'warn' || !counts(finding))
  for (const finding of passing) terminal.stderr.write(`${describeFinding(finding)}\n`)
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

function verdictOn(quoted: Quoted, approved: Approved, terminal: Terminal, findings: readonly Finding[] = []): Verdict {
  const fares = quoted.flatMap(each => each.fares)
  const thresholdsUsd = quoted.map(({ config }) => config.askAboveUsd?.value ?? 0)
  const { currency } = quoted[0].config
  const whyNobody = terminal.interactive ? undefined : whyNobodyIsAsked(terminal)
  const approval = {
    yes: approved.yes === true,
    maxCostUsd: approved.maxCost === undefined ? undefined : approved.maxCost / currency.perUsd,
    askAboveUsd: Math.min(...thresholdsUsd) || undefined,
    canAsk: terminal.interactive,
    ...(whyNobody !== undefined && { whyNobody }),
  }
  return judge(fares, approval, currency, findings)
}

/** Asks until the person has decided. */
async function askAbout(quoted: Quoted, terminal: Terminal, showAll?: () => Promise<void>): Promise<readonly Agreed[]> {
  const dialogue = await dialogueAt(terminal)
  const message = await describeQuestion(quoted)
  let showsAll = false
  for (;;) {
    const choice = await askForChoice(message, quoted, { offersOthers: showAll !== undefined, showsAll }, dialogue)
    if (choice.kind === 'stop') throw new GpufareError('stopped: nothing was submitted', 4)
    if (choice.kind === 'as written') return quoted.map(asWritten)
    if (choice.kind === 'another') {
      const changed = await agreeOnChange(quoted[0], choice, terminal)
      if (changed !== undefined) return [changed]
    } else {
      await showAll?.()
      showsAll = true
    }
  }
}

async function dialogueAt(terminal: Terminal): Promise<Dialogue> {
  return { input: terminal.stdin, output: terminal.stderr, paint: await loadPaint(terminal, 'stderr') }
}

function askForChoice(
  message: string,
  quoted: Quoted,
  { offersOthers, showsAll }: { readonly offersOthers: boolean; readonly showsAll: boolean },
  dialogue: Dialogue,
): Promise<Choice> {
  const fares = quoted.flatMap(each => each.fares)
  const [original] = quoted
  const canChange = (another: Another) => offersOthers && changeTo(original, another) !== undefined
  const options = optionsFor(fares, original.config, showsAll || !offersOthers, canChange)
  return ask({ message, options }, dialogue)
}

/** `Submit to Slurm (cluster gpushop, partition a100)?` */
async function describeQuestion(quoted: Quoted): Promise<string> {
  const found = await Promise.all(quoted.map(each => asWritten(each).scheduler.findDestination(each.manifest)))
  const titles = new Set(quoted.map(each => asWritten(each).scheduler.title))
  const jobs = quoted.flatMap(({ fares }) => fares.map(fare => fare.job))
  const where = describeDestination(Object.assign({}, ...found), jobs)
  return `Submit to ${[...titles].join(' and ')}${where === '' ? '' : ` (${where})`}?`
}

/**
 * Shows what another candidate changes in the manifest, quotes the changed text, and asks again; undefined where the
 * answer is no.
 */
async function agreeOnChange(
  original: QuotedManifest,
  choice: Another,
  terminal: Terminal,
): Promise<Agreed | undefined> {
  const changed = changeTo(original, choice)
  if (changed === undefined) return undefined
  const { name, text } = original.manifest
  const findings = await findBreaches([changed], { environment: terminal.environment, today: today() })
  const verdict = verdictOn([changed], { yes: true }, terminal, findings)
  if (verdict.kind === 'refuse') {
    tell(terminal, `on ${choice.gpus} it would be ${verdict.reasons.join('\n')}\n`)
    return undefined
  }
  showWarnings(findings, terminal)
  await showChange(text, changed.manifest.text, name, terminal)
  const yes = { label: `yes: ${describeFares(changed.fares, original.config.currency)}`, value: true }
  const no = { label: 'no, back to the question', value: false }
  const dialogue = await dialogueAt(terminal)
  const agreed = await ask({ message: `Submit ${name} with this change?`, options: [yes, no] }, dialogue)
  return agreed ? { ...asWritten(changed), changed: true, insteadOf: original } : undefined
}

/** The manifest with the other GPUs, quoted anew; undefined where it cannot be changed so that it asks for just what was chosen. */
function changeTo(original: QuotedManifest, { gpus, target }: Another): QuotedManifest | undefined {
  try {
    const changed = quoteText(original, retarget(original.manifest, target))
    // An option behind -- or a variable such as SBATCH_GRES may say otherwise than the text.
    return changed.fares.every(fare => asksFor(gpus, fare)) ? changed : undefined
  } catch (error) {
    if (error instanceof GpufareError) return undefined
    throw error
  }
}

async function showChange(before: string, after: string, name: string, terminal: Terminal): Promise<void> {
  const paint = await loadPaint(terminal, 'stderr')
  const colours = { '-': paint.red, '+': paint.green, '@': paint.cyan }
  const lines = [`--- ${name}`, `+++ ${name}, changed`, ...diffLines(before, after)].map((exactLine, index) => {
    const line = exactLine.split('\t').map(plainText).join('\t')
    const sign = line.charAt(0)
    if (index < 2) return paint.bold(line)
    return sign === '-' || sign === '+' || sign === '@' ? colours[sign](line) : line
  })
  terminal.stderr.write(`\n${lines.join('\n')}\n\n`)
}

/** Whether the person wants a quote of what a changed manifest holds now; not where nobody was asked before either. */
export async function wantsNewQuote(
  error: ManifestChanged,
  quoted: Quoted,
  approved: Approved,
  terminal: Terminal,
): Promise<boolean> {
  const asked =
    error.what === 'has changed' && terminal.interactive && verdictOn(quoted, approved, terminal).kind === 'ask'
  if (!asked) return false
  const yes = { label: 'quote what it holds now', value: true }
  const no = { label: 'stop', value: false }
  return ask({ message: error.message, options: [yes, no] }, await dialogueAt(terminal))
}

/** The manifest as it is. */
export function asWritten(quoted: QuotedManifest): Agreed {
  const jobs = quoted.fares.map(fare => fare.job)
  return { ...handoverOf(quoted.manifest, jobs), quoted }
}
