import { setTimeout } from 'node:timers/promises'
import type { Job } from '../../job.ts'
import type { Manifest } from '../../manifest.ts'
import { type Created, type CreatedJob, createdJobs, readObjects } from './created.ts'

/** How long is looked, and how often: quota is refused at once, a pod that fits nowhere after a moment. */
const lookMilliseconds = 2_000
const pauseMilliseconds = 200

/**
 * Whether what was created can run. "Created" only says that the text was stored: a Job over quota never gets a pod, one
 * that fits no node waits for ever, and only events say so. Looks for up to 2 s; answers with what stands in the way.
 */
export async function lookAfter(manifest: Manifest, jobs: readonly Job[], printed: string): Promise<readonly string[]> {
  const created = byNamespace(createdJobs(printed, jobs))
  const until = performance.now() + lookMilliseconds
  const found = await Promise.all(
    Array.from(created, ([namespace, members]) => watchNamespace(manifest, namespace, members, until)),
  )
  return found.flat()
}

/** Those that start pods now, by the namespace their manifest names (empty: the context's). */
function byNamespace(created: readonly CreatedJob[]): ReadonlyMap<string, readonly Created[]> {
  const found = new Map<string, Created[]>()
  for (const each of created.filter(({ job }) => job.kind !== 'CronJob')) {
    found.set(each.namespace, [...(found.get(each.namespace) ?? []), each])
  }
  return found
}

async function watchNamespace(
  manifest: Manifest,
  namespace: string,
  created: readonly Created[],
  until: number,
): Promise<readonly string[]> {
  const complaints = new Map<string, string>()
  let hadPods = new Set<string>()
  for (;;) {
    const left = until - performance.now()
    if (left <= 0) break
    const [states, events] = await Promise.all([
      readStates(manifest, namespace, created, left),
      readWarnings(manifest, namespace, left),
    ])
    for (const each of created) {
      const state = states.get(each.name)
      const event = state && events.find(event => concerns(event, each, state))
      if (event !== undefined) complaints.set(each.reference, describe(each, event))
    }
    const settled = created.filter(
      each => complaints.has(each.reference) || states.get(each.name)?.started === true || hadPods.has(each.name),
    )
    if (settled.length === created.length) break
    // a pod that exists and about which no complaint comes in the next look has found its node
    hadPods = new Set(created.map(({ name }) => name).filter(name => states.get(name)?.hasPods === true))
    await setTimeout(Math.min(pauseMilliseconds, Math.max(0, until - performance.now())))
  }
  return [...complaints.values()]
}

/** How far a created object is. */
interface State {
  /** By the server's clock, so that it compares with its events. */
  readonly createdAt: string
  readonly hasPods: boolean
  readonly started: boolean
}

async function readStates(
  manifest: Manifest,
  namespace: string,
  created: readonly Created[],
  timeoutMilliseconds: number,
): Promise<ReadonlyMap<string, State>> {
  const columns = [
    'NAME:.metadata.name',
    'CREATED:.metadata.creationTimestamp',
    'ACTIVE:.status.active',
    'READY:.status.ready',
    'SUCCEEDED:.status.succeeded',
    'SCHEDULED:.status.conditions[?(@.type=="PodScheduled")].status',
    'SUSPENDED:.spec.suspend',
  ]
  const references = created.map(each => each.reference)
  const output = ['--no-headers', `--output=custom-columns=${columns.join(',')}`]
  const printed = await readObjects(manifest, namespace, [...references, ...output], timeoutMilliseconds)
  const rows = printed.trimEnd().split('\n')
  return new Map(
    rows.map(row => {
      const [name = '', createdAt = '', active, ready, succeeded, scheduled, suspended] = row.split(/\s+/)
      const started = isCount(ready) || isCount(succeeded) || scheduled === 'True' || suspended === 'true'
      return [name, { createdAt, hasPods: isCount(active), started }]
    }),
  )
}

function isCount(word: string | undefined): boolean {
  return Number(word) > 0
}

/** An event that warns. */
interface Warning {
  readonly name: string
  readonly reason: string
  readonly createdAt: string
  readonly message: string
}

async function readWarnings(
  manifest: Manifest,
  namespace: string,
  timeoutMilliseconds: number,
): Promise<readonly Warning[]> {
  const fields = ['.involvedObject.name', '.reason', '.metadata.creationTimestamp', '.message']
  const row = fields.map(field => `{${field}}`).join('{"\\t"}')
  const output = ['--field-selector=type=Warning', `--output=jsonpath={range .items[*]}${row}{"\\n"}{end}`]
  const printed = await readObjects(manifest, namespace, ['events', ...output], timeoutMilliseconds)
  return printed.split('\n').map(line => {
    const [name = '', reason = '', createdAt = '', ...message] = line.split('\t')
    return { name, reason, createdAt, message: message.join(' ') }
  })
}

/** About the object or a pod of its, and not left by an earlier one of the same name. */
function concerns(event: Warning, created: Created, state: State): boolean {
  const isItsOwn = event.name === created.name || event.name.startsWith(`${created.name}-`)
  return isItsOwn && event.createdAt >= state.createdAt && /^Failed(?:Create|Scheduling)$/.test(event.reason)
}

function describe(created: Created, event: Warning): string {
  return event.reason === 'FailedCreate'
    ? `${created.reference} was created, but gets no pods: ${event.message.replace(/^Error creating: /, '')}`
    : `${created.reference} was created, but no node can take its pods now: ${event.message.replace(/ preemption: .*/, '')}`
}
