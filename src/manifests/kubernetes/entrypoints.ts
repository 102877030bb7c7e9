import { type CommandLine, findCommandLines } from '../../command-lines.ts'
import { type DocumentPath, isMapping, readYaml, valueAt } from '../../document.ts'
import { InputError } from '../../errors.ts'
import type { ServedModel } from '../../job.ts'
import { sourced } from '../../sourced.ts'
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
  const serves = servedModel(kind, object)
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

/** Where Ray Serve's applications name a published model: `LLMConfig` of Ray's own, or the variable that its examples read. */
function servedModel({ serveConfig }: Kind, { document, path }: KubernetesObject): ServedModel | undefined {
  const at = serveConfig && [...path, ...serveConfig]
  const text = at && valueAt(document.value, at)
  if (at === undefined || typeof text !== 'string') return undefined
  const config = yamlIn(text, document.file)
  const origin = { kind: 'manifest', place: document.placeOf(at) } as const
  const applications = listIn(config, ['applications'])
  const [model, ...others] = applications.flatMap(application => [
    ...listIn(application, ['args', 'llm_configs']).map(each => ({
      name:
        valueAt(each, ['model_loading_config', 'model_source']) ?? valueAt(each, ['model_loading_config', 'model_id']),
      tensor: valueAt(each, ['engine_kwargs', 'tensor_parallel_size']),
    })),
    ...[valueAt(application, ['runtime_env', 'env_vars', 'MODEL_ID'])].flatMap(name =>
      typeof name === 'string' ? [{ name, tensor: undefined }] : [],
    ),
  ])
  const isOnly = model !== undefined && others.length === 0
  return {
    place: origin.place,
    ...(isOnly && typeof model.name === 'string' && { modelName: sourced(model.name, origin) }),
    ...(isOnly && typeof model.tensor === 'number' && { tensorParallel: sourced(model.tensor, origin) }),
  }
}

function listIn(value: unknown, path: DocumentPath): readonly unknown[] {
  const list = valueAt(value, path)
  return Array.isArray(list) ? list : []
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

/** The first document of a text within a manifest; undefined where it is no YAML, which is Ray's to complain about. */
function yamlIn(text: string, file: string): unknown {
  try {
    return readYaml(text, file, 'yaml-1.2')[0]?.value
  } catch (error) {
    if (error instanceof InputError) return undefined
    throw error
  }
}
