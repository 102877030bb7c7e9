import { type DocumentPath, readYaml, valueAt } from '../../document.ts'
import { InputError } from '../../errors.ts'
import type { ServedModel } from '../../job.ts'
import { type Sourced, sourced, withoutAbsent } from '../../sourced.ts'
import type { PlacedPod } from './containers.ts'
import type { Kind } from './kinds.ts'
import type { KubernetesObject } from './objects.ts'
import { nimImage } from './resources.ts'

/** What stands at a path of an object about the model that it serves; undefined where it does not say that it serves any. */
export function servedModel({ document }: KubernetesObject, at: DocumentPath | undefined): ServedModel | undefined {
  if (at === undefined || valueAt(document.value, at) == null) return undefined
  const said = <T>(key: string, isFit: (value: unknown) => value is T): Sourced<T> | undefined => {
    const value = valueAt(document.value, [...at, key])
    return isFit(value) ? sourced(value, { kind: 'manifest', place: document.placeOf([...at, key]) }) : undefined
  }
  const isText = (value: unknown) => typeof value === 'string'
  return {
    place: document.placeOf(at),
    ...withoutAbsent({
      modelName: said('model', isText),
      framework: said('framework', isText),
      tensorParallel: said('tensor', value => typeof value === 'number'),
    }),
  }
}

/** NVIDIA's images are called by the models in them, `nvcr.io/nim/meta/llama-3.1-8b-instruct`, and serve when they are told nothing. */
export function modelOfImage({ containers, document }: PlacedPod): ServedModel | undefined {
  return containers.flatMap(({ container, path }): ServedModel[] => {
    const image = container.command === undefined ? nimImage(container.image ?? '') : undefined
    const named = container.env?.find(({ name }) => name === 'NIM_MODEL_NAME')?.value
    const model = named?.replace(/^hf:\/\//, '') ?? image?.model
    const place = document.placeOf([...path, 'image'])
    const said = <T>(value: T) => sourced(value, { kind: 'manifest', place } as const)
    if (image === undefined) return []
    return [{ place, ...(model !== undefined && { modelName: said(model) }), framework: said('nim') }]
  })[0]
}

/** Where Ray Serve's applications name a published model: `LLMConfig` of Ray's own, or the variable that its examples read. */
export function modelOfRayServe({ serveConfig }: Kind, { document, path }: KubernetesObject): ServedModel | undefined {
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

/** The first document of a text within a manifest; undefined where it is no YAML, which is Ray's to complain about. */
export function yamlIn(text: string, file: string): unknown {
  try {
    return readYaml(text, file, 'yaml-1.2')[0]?.value
  } catch (error) {
    if (error instanceof InputError) return undefined
    throw error
  }
}
