import { createHash, randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import packageJson from '../package.json' with { type: 'json' }
import type { Agreed } from './agreement.ts'
import { GpufareError } from './errors.ts'
import { appendRecord, ledgerPath } from './ledger.ts'
import { type QuoteRecord, quoteRecordOf } from './quote-record.ts'
import type { Accepted } from './schedulers/scheduler.ts'
import { stampOf } from './stamp.ts'

/** A manifest on its way with the records of its jobs, in the order of its jobs; its text may carry their stamp. */
export interface Recorded extends Agreed {
  readonly records: readonly QuoteRecord[]
  /** Quotes are kept beside the jobs. */
  readonly stamps: boolean
}

/** Makes the records of a manifest's jobs; `stamps` = the scheduler shall keep the quote beside the job as well. */
export function withRecords(agreed: Agreed, stamps: boolean): Recorded {
  const { manifest, quoted, insteadOf, scheduler } = agreed
  const user = userName(manifest.environment)
  const digest = createHash('sha256').update(manifest.bytes).digest('hex')
  const records = quoted.fares.map((fare, index) => {
    const before = insteadOf?.fares[index]
    return quoteRecordOf(fare, {
      key: randomBytes(5).toString('hex'),
      at: new Date().toISOString(),
      ...(user !== undefined && { user }),
      digest,
      gpufareVersion: packageJson.version,
      config: quoted.config,
      ...(before !== undefined && { insteadOf: before }),
    })
  })
  const [only] = records
  const stamped =
    stamps && only !== undefined ? scheduler.withStamp?.(manifest, stampOf(only, packageJson.version)) : undefined
  return { ...agreed, manifest: stamped ?? manifest, records, stamps }
}

/**
 * Keeps what was quoted for the jobs that were taken: in the ledger, and beside those whose scheduler takes it afterwards. Answers with what
 * could not be done; the jobs run all the same.
 */
export async function keepRecords(recorded: Recorded, accepted: readonly Accepted[]): Promise<readonly string[]> {
  if (accepted.length === 0) return []
  const { scheduler, manifest, jobs, stamps } = recorded
  const { cluster, context, namespace } = await scheduler.findDestination(manifest)
  const where = cluster ?? context
  const faults: string[] = []
  for (const each of accepted) {
    const record = recorded.records[jobs.indexOf(each.job)]
    if (record === undefined) continue
    const { job: _, ...found } = each
    const fault = keep(recorded, {
      ...record,
      ...(where !== undefined && { cluster: where }),
      ...(namespace !== undefined && { namespace }),
      ...found,
    })
    if (fault !== undefined && !faults.includes(fault)) faults.push(fault)
    const remark = stamps ? await scheduler.annotate?.(manifest, each, stampOf(record, packageJson.version)) : undefined
    if (remark !== undefined) faults.push(remark)
  }
  return faults
}

function keep({ manifest }: Recorded, record: QuoteRecord): string | undefined {
  const path = ledgerPath(manifest.environment)
  if (path === undefined) return undefined
  try {
    appendRecord(path, record)
    return undefined
  } catch (error) {
    if (error instanceof GpufareError) return `the quote is not recorded: ${error.message}`
    throw error
  }
}

/** The name that the system knows its user by, which is also Slurm's. */
export function userName(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    return userInfo().username
  } catch {
    return environment['USER'] // a container may run as somebody that it has no name for
  }
}
