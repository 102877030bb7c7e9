import { posix } from 'node:path'
import { fitsGlob } from './globs.ts'

/** What a file is, as far as a glance tells: a text that a reader of manifests should read, or none. */
export type Look = 'slurm' | 'kubernetes' | 'skypilot' | undefined

/** What is filled in before it is a manifest, and with which command. */
export interface Unrendered {
  readonly folder: string
  /** The chart's or kustomization's own file. */
  readonly file: string
  readonly reason: string
}

/** What a person asked to look at. Paths are those of a file source: the whole of it is the empty path. */
export interface Selection {
  readonly paths: readonly string[]
  /** Globs of files; all where there are none. */
  readonly include: readonly string[]
}

/** Data, pictures, programs and prose: whatever they hold, no scheduler takes them. */
const otherFiles =
  /\.(?:png|jpe?g|gif|svg|webp|ico|pdf|docx?|xlsx?|pptx?|zip|gz|tgz|bz2|xz|zst|7z|tar|whl|jar|so|o|a|dll|exe|bin|pt|pth|ckpt|safetensors|gguf|onnx|npy|npz|h5|hdf5|pkl|parquet|arrow|tfrecord|mp[34]|wav|flac|avi|mov|woff2?|ttf|otf|eot|ipynb|csv|tsv|jsonl|md|rst|tex|html?|css|scss|[cm]?jsx?|tsx?|map|c|cc|cpp|h|hpp|cu|go|rs|java|kt|scala|rb|php|swift|lock|sum|log)$/i

/** Programs: a batch script may be one, but objects in it are texts that it writes. */
const programFiles =
  /\.(?:py|sh|bash|zsh|ksh|csh|fish|pl|r|jl|lua|tf|hcl|cmake|mk|bat|cmd|ps1)$|(?:^|\/)(?:Dockerfile|Containerfile|Makefile|Jenkinsfile|Vagrantfile)[^/]*$/i

/** A batch script says so near its beginning, if it is one. */
const headLength = 65_536
/**
 * Words without one of which no Kubernetes object asks for an accelerator: parts of the resource names of the device plugins
 * (`nvidia.com/…`, `amd.com/gpu`, `gpu.intel.com/…`, `habana.ai/gaudi`, `google.com/tpu`, `aws.amazon.com/neuron`), and claims.
 */
const acceleratorWords = /nvidia|gpu|tpu|neuron|gaudi|resourceclaim/i

/** Whether a path is worth a glance: it was asked for, and its name is not that of something else. */
export function isWorthAGlance(path: string, { paths, include }: Selection): boolean {
  return (
    paths.some(asked => asked === '' || path === asked || path.startsWith(`${asked}/`)) &&
    (include.length === 0 || include.some(glob => fitsGlob(path, glob))) &&
    !isOtherData(path)
  )
}

/** Whether a file is of a kind, by its name, that no scheduler takes. */
export function isOtherData(path: string): boolean {
  return otherFiles.test(path)
}

/** Whether a file is a batch script, a SkyPilot task, or Kubernetes objects that may ask for accelerators: by these names too. */
export function glanceAt(path: string, bytes: Uint8Array, resourceNames: readonly string[]): Look {
  const text = glanceText(bytes)
  const head = text.slice(0, headLength)
  if (/^#(?:SBATCH|PBS|GPUFARE)\s/m.test(head) && !/^[ \t]*apiVersion\s*:/m.test(head)) return 'slurm'
  if (programFiles.test(path) || text.startsWith('#!')) return undefined
  // Of a task only its accelerators tell it from other lists of resources.
  if (/^resources[ \t]*:/m.test(text) && /(?:^[ \t]+(?:-[ \t]+)*|[{,][ \t]*)accelerators[ \t]*:/m.test(text)) {
    return /^[ \t]*apiVersion[ \t]*:/m.test(head) ? undefined : 'skypilot'
  }
  // Data that holds words, as generated schemas do.
  if (text.includes('\0') || !mentionsAccelerator(text, resourceNames)) return undefined
  return isObject(text) && /["']?\bkind["']?\s*:/.test(text) ? 'kubernetes' : undefined
}

/** Whether a text itself is an object, or a list of them, and does not only hold some, as templates of clouds do. */
function isObject(text: string): boolean {
  if (/^(?:-[ \t]+|[{[][ \t{]*)?["']?(?:apiVersion|kind)["']?\s*:/m.test(text)) return true
  if (!/^[ \t{,-]+["']?apiVersion["']?\s*:/m.test(text)) return false
  // documents that are indented as a whole, or JSON
  return /^\s*[{[]/.test(text) ? isJsonObject(text) : !/^["'\w]/m.test(text)
}

/** Several objects one after the other are no JSON, and may be manifests. */
function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return [value].flat().some(each => typeof each === 'object' && each !== null && 'apiVersion' in each)
  } catch {
    return true
  }
}

/** Whether a text speaks of accelerators at all. */
export function mentionsAccelerator(text: string, resourceNames: readonly string[]): boolean {
  return acceleratorWords.test(text) || resourceNames.some(name => text.includes(name))
}

/** As Latin-1, which is quick and leaves ASCII as it is; UTF-16, which kubectl reads too, is ASCII with a NUL beside each. */
export function glanceText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  return /^(?:\xff\xfe|\xfe\xff)/.test(text) ? text.slice(2).replaceAll('\0', '') : text
}

function isRecipe(path: string): boolean {
  return /(?:^|\/)(?:(?:Chart|kustomization)\.ya?ml|Kustomization)$/.test(path)
}

/** Folders whose manifests are only made by rendering them: Helm charts and kustomizations, the outermost first. */
export function findUnrendered(paths: readonly string[]): readonly Unrendered[] {
  const found = paths.filter(isRecipe).flatMap((path): readonly Unrendered[] => {
    const folder = posix.dirname(path) === '.' ? '' : posix.dirname(path)
    const shown = folder === '' ? '.' : folder
    if (/(?:^|\/)Chart\.ya?ml$/.test(path)) {
      return [{ folder, file: path, reason: `a Helm chart, not priced: helm template ${shown} | gpufare estimate -` }]
    }
    if (/(?:^|\/)(?:kustomization\.ya?ml|Kustomization)$/.test(path)) {
      return [
        { folder, file: path, reason: `a kustomization, not priced: kubectl kustomize ${shown} | gpufare estimate -` },
      ]
    }
    return []
  })
  return found.toSorted((a, b) => a.folder.length - b.folder.length)
}
