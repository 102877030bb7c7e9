import { type CommandLine, findCommandLines } from '../../command-lines.ts'
import { isMapping, valueAt } from '../../document.ts'
import type { Kind } from './kinds.ts'
import type { KubernetesObject } from './objects.ts'
import type { RoleReading } from './roles.ts'
import { modelOfRayServe, yamlIn } from './served-models.ts'

/** Puts the command line that an object itself holds where its GPUs are: RayJob's `entrypoint`, which spreads over the whole cluster. */
export function withEntrypoint(
  kind: Kind,
  roles: readonly RoleReading[],
  object: KubernetesObject,
): readonly RoleReading[] {
  const lines = entrypointLines(kind, object)
  const serves = modelOfRayServe(kind, object)
  if (lines.length === 0 && serves === undefined) return roles
  // What scales to nothing has its GPUs when it runs.
  const gpusOf = (role: RoleReading) => role.reading.gpus.value * Math.max(1, role.replicas.value)
  const most = Math.max(...roles.map(gpusOf))
  const holder = roles.find(role => gpusOf(role) === most)
  return roles.map(role => {
    if (role !== holder) return role
    const commandLines = [...lines, ...role.reading.commandLines]
    return { ...role, ...(serves !== undefined && { serves }), reading: { ...role.reading, commandLines } }
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

/** `env_vars` of a Ray runtime environment. */
function variablesIn(text: string, file: string): Readonly<Record<string, string>> {
  const variables = valueAt(yamlIn(text, file), ['env_vars'])
  return Object.fromEntries(
    Object.entries(isMapping(variables) ? variables : {}).map(([name, value]) => [name, String(value)]),
  )
}
