import type { Job } from '../../job.ts'
import type { Manifest } from '../../manifest.ts'
import { askProgram } from '../../programs.ts'
import type { Accepted } from '../scheduler.ts'
import { createdJobs, readObjects, whereWords } from './created.ts'

/** Key of the annotation that a quote is kept in. */
export const quoteAnnotation = 'gpufare.dev/quote'

/** The job is created already; nobody is kept waiting long for what is only kept of it. */
const patienceMilliseconds = 4_000

/** Jobs that were created, with their uids as far as the server says them in time: one question a namespace. */
export async function readAccepted(
  manifest: Manifest,
  jobs: readonly Job[],
  printed: string,
): Promise<readonly Accepted[]> {
  const created = createdJobs(printed, jobs)
  const namespaces = [...new Set(created.map(({ namespace }) => namespace))]
  const answers = await Promise.all(
    namespaces.map(async namespace => {
      const own = created.filter(each => each.namespace === namespace)
      const columns = 'custom-columns=KIND:.kind,NAME:.metadata.name,NAMESPACE:.metadata.namespace,UID:.metadata.uid'
      const words = [...own.map(({ reference }) => reference), '--no-headers', `--output=${columns}`]
      const text = await readObjects(manifest, namespace, words, patienceMilliseconds)
      const rows = text.split('\n').map(line => line.trim().split(/\s+/))
      return own.map(({ reference, name, job }): Accepted => {
        const row = rows.find(([kind, named]) => named === name && kind === job.kind.split(' ')[0])
        const [, , where = namespace, id] = row ?? []
        return {
          job,
          reference,
          ...(where !== '' && { namespace: where }),
          ...(id !== undefined && { id }),
        }
      })
    }),
  )
  return answers.flat()
}

/** Writes the annotation to the created object; answers with why it could not. */
export async function annotate(
  manifest: Manifest,
  { reference, namespace = '' }: Accepted,
  stamp: string,
): Promise<string | undefined> {
  if (reference === undefined) return undefined
  const words = ['annotate', ...whereWords(manifest, namespace), reference, `${quoteAnnotation}=${stamp}`]
  const asking = { environment: manifest.environment, timeoutMilliseconds: patienceMilliseconds }
  const answer = await askProgram('kubectl', words, asking)
  if (answer.exitCode === 0) return undefined
  const reason = answer.timedOut ? 'the cluster did not answer in time' : answer.stderr.trim().split('\n')[0]
  return `${reference} has no annotation with its quote: ${reason}`
}
