import { GpufareError } from '../../errors.ts'
import type { Manifest } from '../../manifest.ts'
import { askProgram } from '../../programs.ts'
import { connectionWords } from './options.ts'

/** kubectl tries three times and gives up on a silent server after 25 s; nobody is kept waiting for that. */
const patienceMilliseconds = 8_000
/** Only a file is read for it, and the quote is on the screen meanwhile. */
const lookUpMilliseconds = 2_000

/** What kubectl says when it did not get as far as judging the manifest. */
const unreachable = [
  /failed to download openapi: (.+?)(?:; if you choose to ignore|$)/m,
  /^(?:error: )?Unable to connect to the server: (.+)$/m,
  /^(?:error: )?(The connection to the server .+)$/m,
  /couldn't get current server API group list: (.+)$/m,
]

/**
 * Lets the API server judge the whole manifest and create nothing (`kubectl create --dry-run=server`): kubectl itself
 * would create the good documents of a bad file. Throws GpufareError where a part would be refused, or nobody answers.
 */
export async function rehearse(manifest: Manifest): Promise<readonly string[]> {
  const { path, schedulerArguments, environment, bytes } = manifest
  const words = ['create', ...schedulerArguments, '--dry-run=server', '--output=name', '-f', path]
  const input = path === '-' ? { input: bytes } : {}
  const answer = await askProgram('kubectl', words, {
    environment,
    timeoutMilliseconds: patienceMilliseconds,
    ...input,
  })
  if (answer.timedOut) throw await silentCluster(manifest, answer.stderr)
  if (answer.exitCode === 0) return []
  for (const pattern of unreachable) {
    const cause = pattern.exec(answer.stderr)?.[1]
    if (cause !== undefined) throw await unreachableCluster(manifest, cause)
  }
  const brought = broughtNamespaces(answer.stdout)
  const refusals = errorLines(answer.stderr)
  if (refusals.length > 0 && refusals.every(line => isMissingNamespace(line, brought))) {
    return [`what goes into ${brought.join(', ')} cannot be checked beforehand: ${manifest.name} creates it itself`]
  }
  throw new GpufareError(
    `the cluster would not take all of ${manifest.name}, so nothing was created. kubectl says:\n${answer.stderr.trimEnd()}`,
    1,
  )
}

/** Context, its namespace and its server, from the kubeconfig alone. */
export async function readContext({
  schedulerArguments,
  environment,
}: Pick<Manifest, 'schedulerArguments' | 'environment'>) {
  const fields = ['{.current-context}', '{.contexts[0].context.namespace}', '{.clusters[0].cluster.server}']
  const output = `--output=jsonpath=${fields.join('{"\\n"}')}`
  const words = ['config', 'view', '--minify', ...connectionWords(schedulerArguments), output]
  const answer = await askProgram('kubectl', words, { environment, timeoutMilliseconds: lookUpMilliseconds })
  const [context = '', namespace = '', server = ''] = answer.exitCode === 0 ? answer.stdout.split('\n') : []
  return { context, namespace, server }
}

async function silentCluster(manifest: Manifest, said: string): Promise<GpufareError> {
  const soFar = said.trim() === '' ? '' : ` kubectl said:\n${said.trimEnd()}`
  const seconds = patienceMilliseconds / 1000
  return new GpufareError(
    `${await describeCluster(manifest)} does not answer within ${seconds} s; nothing was created.${soFar}`,
    1,
    'check the network or VPN, and with kubectl config current-context that it is the right cluster',
  )
}

async function unreachableCluster(manifest: Manifest, cause: string): Promise<GpufareError> {
  return new GpufareError(
    `${await describeCluster(manifest)} cannot be reached, so the manifest was not judged and nothing was created: ${cause}`,
    1,
    'check kubectl config current-context, KUBECONFIG and the login',
  )
}

async function describeCluster(manifest: Manifest): Promise<string> {
  const { context, server } = await readContext(manifest)
  const at = server === '' ? '' : ` at ${server}`
  return `the cluster${at}${context === '' ? '' : ` (context ${context})`}`
}

/** Namespaces among what would be created, one `namespace/NAME` a line. */
function broughtNamespaces(printed: string): readonly string[] {
  return Array.from(printed.matchAll(/^namespace\/(\S+)$/gm), ([, name = '']) => name)
}

/** Every line of stderr but warnings, which do not stop anything. */
function errorLines(said: string): readonly string[] {
  return said.split('\n').filter(line => line.trim() !== '' && !line.startsWith('Warning:'))
}

/** A dry run creates no namespace, so what goes into it is not found. */
function isMissingNamespace(line: string, brought: readonly string[]): boolean {
  const name = /^Error from server \(NotFound\): .*namespaces "([^"]+)" not found$/.exec(line)?.[1]
  return name !== undefined && brought.includes(name)
}
