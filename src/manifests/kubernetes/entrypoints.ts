import { type CommandLine, findCommandLines } from '../../command-lines.ts'
import { isMapping, readYaml, valueAt } from '../../document.ts'
import { InputError } from '../../errors.ts'
import type { Kind } from './kinds.ts'
import type { KubernetesObject } from './objects.ts'
import type { RoleReading } from './roles.ts'

/** Puts the command line that an object itself holds where its GPUs are: RayJob's `entrypoint`, which spreads over the whole cluster. */
export function withEntrypoint(
  kind: Kind,
  roles: readonly RoleReading[],
  object: KubernetesObject,
): readonly RoleReading[] {
  const lines = entrypointLines(kind, object)
  if (lines.length === 0) return roles
  const gpusOf = (role: RoleReading) => role.reading.gpus.value * role.replicas.value
  const most = Math.max(...roles.map(gpusOf))
  const holder = roles.find(role => gpusOf(role) === most)
  return roles.map(role => {
    const commandLines = role === holder ? [...lines, ...role.reading.commandLines] : role.reading.commandLines
    return { ...role, reading: { ...role.reading, commandLines } }
  })
}

function entrypointLines({ entrypoint }: Kind, { document, path }: KubernetesObject): readonly CommandLine[] {
  const at = entrypoint && [...path, ...entrypoint.command]
  const text = at && valueAt(document.value, at)
  if (entrypoint === undefined || at === undefined || typeof text !== 'string') return []
  const environment = valueAt(document.value, [...path, ...entrypoint.runtimeEnvironment])
  return findCommandLines(text, {
    file: document.file,
    firstLine: document.scalarAt(at)?.firstLine ?? 1,
    variables: typeof environment === 'string' ? variablesIn(environment, document.file) : {},
    arguments: [],
  }).commandLines
}

/** `env_vars` of a Ray runtime environment; none where the text is no YAML, which is Ray's to complain about. */
function variablesIn(text: string, file: string): Readonly<Record<string, string>> {
  try {
    const [document] = readYaml(text, file, 'yaml-1.2')
    const variables = valueAt(document?.value, ['env_vars'])
    return Object.fromEntries(
      Object.entries(isMapping(variables) ? variables : {}).map(([name, value]) => [name, String(value)]),
    )
  } catch (error) {
    if (error instanceof InputError) return {}
    throw error
  }
}
