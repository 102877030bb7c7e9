import type { Job } from '../../job.ts'
import type { Manifest } from '../../manifest.ts'
import { askProgram } from '../../programs.ts'
import { connectionWords } from './options.ts'

/** Something that `kubectl create` says it created. */
export interface Created {
  /** `job.batch/train`, or of whole objects `Job/train`. */
  readonly reference: string
  readonly name: string
}

/** One that is a job of the manifest. */
export interface CreatedJob extends Created {
  readonly job: Job
  /** As the manifest names it; empty: the context's. */
  readonly namespace: string
}

/** What was created and is one of the jobs, from what kubectl printed in whatever format it was asked for. */
export function createdJobs(printed: string, jobs: readonly Job[]): readonly CreatedJob[] {
  return readCreated(printed).flatMap(each => {
    const ofKind = jobs.filter(job => isOfKind(each.reference, job))
    // a generated name begins with what the manifest says
    const job = ofKind.find(({ name }) => name === each.name) ?? ofKind.find(({ name }) => each.name.startsWith(name))
    return job === undefined ? [] : [{ ...each, job, namespace: job.destination['namespace'] ?? '' }]
  })
}

/** Kinds of one name in two groups are told apart by the job's own title, `Job (batch.volcano.sh)`; whole objects are printed without a group. */
function isOfKind(reference: string, job: Job): boolean {
  const [type = ''] = reference.split('/')
  const [kind = '', ...group] = type.toLowerCase().split('.')
  const [, named = '', otherGroup] = /^(\S+)(?: \((.+)\))?$/.exec(job.kind.toLowerCase()) ?? []
  return kind === named && (otherGroup === undefined || group.length === 0 || group.join('.') === otherGroup)
}

/** `job.batch/train created`, with `-o name` only `job.batch/train`, with `-o yaml` and `-o json` whole objects. */
function readCreated(printed: string): readonly Created[] {
  const named = Array.from(
    printed.matchAll(/^([a-z][\w.-]*\/(\S+?))(?: created)?$/gm),
    ([, reference = '', name = '']) => ({ reference, name }),
  )
  return named.length > 0 ? named : readPrinted(printed)
}

/**
 * Objects as kubectl prints them, whose indentation and order of keys are fixed: `kind`, then `metadata` with its `name`. Read by line, since
 * several JSON objects one after the other are no document.
 */
function readPrinted(printed: string): readonly Created[] {
  const created: Created[] = []
  let kind = ''
  let inMetadata = false
  for (const line of printed.split('\n')) {
    const [, key = '', value = ''] =
      /^(?: {4}"(\w+)"|(\w+)): ?"?(.*?)"?,?$/.exec(line)?.filter(cell => cell !== undefined) ?? []
    if (key !== '') inMetadata = key === 'metadata'
    if (key === 'kind') kind = value
    const [, name] = inMetadata
      ? (/^(?: {8}"name": "(.+)",?|(?: {2}name: "?(.+?)"?))$/.exec(line)?.filter(cell => cell !== undefined) ?? [])
      : []
    if (name !== undefined) created.push({ reference: `${kind}/${name}`, name })
  }
  return created
}

/** What `kubectl get` prints; nothing where it may not read or has no answer in time. */
export async function readObjects(
  manifest: Manifest,
  namespace: string,
  words: readonly string[],
  timeoutMilliseconds: number,
): Promise<string> {
  const { environment } = manifest
  const asking = { environment, timeoutMilliseconds }
  const answer = await askProgram('kubectl', ['get', ...whereWords(manifest, namespace), ...words], asking)
  return answer.exitCode === 0 ? answer.stdout : ''
}

/** Options of every kubectl command about objects of the manifest in a namespace. */
export function whereWords({ schedulerArguments }: Manifest, namespace: string): readonly string[] {
  return [...connectionWords(schedulerArguments), ...(namespace === '' ? [] : ['--namespace', namespace])]
}
