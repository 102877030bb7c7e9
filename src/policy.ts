import type { Fare } from './fare.ts'
import { requestedQuotes } from './fare.ts'
import { counts, describeFinding, type Finding } from './finding.ts'
import { amountToApprove } from './quote.ts'
import { type Currency, formatMoney } from './units.ts'

/** What the person or the site approved before the question could be asked. */
export interface Approval {
  /** `--yes`: whatever it costs. */
  readonly yes: boolean
  /** `--max-cost`, in US dollars: up to this P90 total and not more. */
  readonly maxCostUsd: number | undefined
  /** `ask-above` of the user's or the site's configuration, in US dollars. */
  readonly askAboveUsd: number | undefined
  /** A person sits at a terminal. */
  readonly canAsk: boolean
  /** Why nobody can be asked; absent = there is no terminal. */
  readonly whyNobody?: string
}

/** What may be done with the jobs: forwarded, asked about, or not forwarded, and with which exit code. */
export type Verdict =
  | { readonly kind: 'allow'; readonly because: string }
  | { readonly kind: 'ask' }
  | { readonly kind: 'refuse'; readonly exitCode: 3 | 4 | 5; readonly reasons: readonly string[] }

/**
 * Allow, ask or refuse. What a policy denies is refused whoever approved it. Amounts compare the P90 total as written, or the
 * time limit's bound where only that is known.
 */
export function judge(
  fares: readonly Fare[],
  approval: Approval,
  currency: Currency,
  findings: readonly Finding[] = [],
): Verdict {
  const denials = findings.filter(finding => finding.level === 'deny' && counts(finding))
  if (denials.length > 0) {
    return { kind: 'refuse', exitCode: 3, reasons: ['denied by policy', ...denials.map(describeFinding)] }
  }
  const totalUsd = totalToApprove(fares)
  if (approval.maxCostUsd !== undefined) return judgeAmount(fares, totalUsd, approval.maxCostUsd, currency)
  if (approval.yes) return { kind: 'allow', because: '--yes' }
  if (totalUsd !== undefined && approval.askAboveUsd !== undefined && totalUsd <= approval.askAboveUsd) {
    return {
      kind: 'allow',
      because: `${formatMoney(totalUsd, currency)} is under ask-above ${formatMoney(approval.askAboveUsd, currency)}`,
    }
  }
  if (approval.canAsk) return { kind: 'ask' }
  return {
    kind: 'refuse',
    exitCode: 4,
    reasons: [
      `nobody to ask: ${approval.whyNobody ?? 'no terminal'}. To approve an amount pass --max-cost AMOUNT, to approve any pass --yes`,
    ],
  }
}

/** The amount an approval has to cover for all jobs as written, in US dollars; undefined where one is not known. */
export function totalToApprove(fares: readonly Fare[]): number | undefined {
  let totalUsd = 0
  for (const fare of fares) {
    const amounts = requestedQuotes(fare).map(amountToApprove)
    const dearest = amounts.includes(undefined) ? undefined : Math.max(...amounts.map(amount => amount ?? 0))
    if (dearest === undefined || amounts.length === 0) return undefined
    totalUsd += dearest
  }
  return totalUsd
}

function judgeAmount(
  fares: readonly Fare[],
  totalUsd: number | undefined,
  maxCostUsd: number,
  currency: Currency,
): Verdict {
  if (totalUsd === undefined) {
    return {
      kind: 'refuse',
      exitCode: 5,
      reasons: [`the cost is not known: ${whatIsMissing(fares)}; --max-cost compares an amount`],
    }
  }
  if (totalUsd > maxCostUsd) {
    return {
      kind: 'refuse',
      exitCode: 3,
      reasons: [`${formatMoney(totalUsd, currency)} (P90) is over --max-cost ${formatMoney(maxCostUsd, currency)}`],
    }
  }
  return {
    kind: 'allow',
    because: `${formatMoney(totalUsd, currency)} is within --max-cost ${formatMoney(maxCostUsd, currency)}`,
  }
}

function whatIsMissing(fares: readonly Fare[]): string {
  const missing = fares.flatMap(fare => {
    const quotes = requestedQuotes(fare)
    if (quotes.length === 0) return [`${fare.job.name} asks for no GPU`]
    return quotes.flatMap(quote => (quote.cost.kind === 'unknown' ? quote.cost.missing : []))
  })
  return [...new Set(missing)].join(', ')
}
