import type { DeviceShare, Role } from '../../job.ts'

/** What a resource name asks for. */
export type Device =
  /** Whole GPUs; some sites put the GPU type into the name. */
  | { readonly kind: 'gpu'; readonly type?: string }
  /** A part of a GPU. */
  | { readonly kind: 'share'; readonly share: DeviceShare }
  /** The amount is no number of devices: hundredths of GPUs, or memory of one. */
  | { readonly kind: 'percent' }
  | { readonly kind: 'memory' }
  /** An accelerator that is no GPU. */
  | { readonly kind: 'other' }

interface DeviceRow {
  readonly name: RegExp
  device(match: RegExpExecArray): Device
}

/**
 * Resource names that ask for accelerators, as their device plugins document them: NVIDIA k8s-device-plugin (`gpu`,
 * `gpu.shared`, `mig-1g.10gb`), ROCm k8s-device-plugin, Intel device plugins, Habana, GKE TPUs, AWS Neuron.
 * `nvidia.com/a100` and the like are names that sites with many GPU types give (NRP Nautilus, KubeVirt). Schedulers that
 * share GPUs have names of their own: Volcano, Alibaba Cloud, Koordinator, Tencent's gpu-manager. A claim of dynamic resource
 * allocation may be written as a resource name too (KEP-5004).
 */
const DEVICES: readonly DeviceRow[] = [
  { name: /^nvidia\.com\/gpu$/, device: () => ({ kind: 'gpu' }) },
  { name: /^nvidia\.com\/gpu\.shared$/, device: () => ({ kind: 'share', share: { kind: 'time-slice' } }) },
  { name: /^nvidia\.com\/mig-(.+)$/, device: match => ({ kind: 'share', share: migShare(match[1] ?? '') }) },
  {
    name: /^nvidia\.com\/((?:tesla|quadro|geforce|rtx|gtx|gh|gb|[abhlptv])[-_]?a?\d[\w-]*)$/i,
    device: match => ({ kind: 'gpu', type: match[1] ?? '' }),
  },
  { name: /^amd\.com\/gpu$/, device: () => ({ kind: 'gpu' }) },
  { name: /^gpu\.intel\.com\/(?:i915|xe)$/, device: () => ({ kind: 'gpu' }) },
  { name: /^deviceclass\.resource\.kubernetes\.io\/(?:[\w-]+\.)*gpu\./, device: () => ({ kind: 'gpu' }) },
  { name: /^volcano\.sh\/(?:vgpu|gpu)-number$/, device: () => ({ kind: 'gpu' }) },
  { name: /^(?:volcano\.sh\/gpu-memory|aliyun\.com\/gpu-mem)$/, device: () => ({ kind: 'memory' }) },
  { name: /^(?:koordinator\.sh\/gpu|tencent\.com\/vcuda-core)$/, device: () => ({ kind: 'percent' }) },
  { name: /^habana\.ai\/gaudi\d*$/, device: () => ({ kind: 'other' }) },
  { name: /^huawei\.com\/Ascend[\w-]*?(?<!-memory)(?<!-core)$/i, device: () => ({ kind: 'other' }) },
  {
    name: /^(?:cambricon\.com\/(?:mlu|vmlu)\d*|hygon\.com\/dcunum|iluvatar\.ai\/(?:gpu|[\w.-]+-vgpu)|metax-tech\.com\/s?gpu|mthreads\.com\/vgpu|kunlunxin\.com\/v?xpu|enflame\.com\/v?gcu|birentech\.com\/gpu)$/,
    device: () => ({ kind: 'other' }),
  },
  { name: /^google\.com\/tpu$/, device: () => ({ kind: 'other' }) },
  { name: /^(?:cloud-tpus\.google\.com\/.+)$/, device: () => ({ kind: 'other' }) },
  { name: /^aws\.amazon\.com\/neuron(?:core|device)?$/, device: () => ({ kind: 'other' }) },
]

/** What a resource name asks for; undefined where it is no accelerator. */
export function deviceOf(resourceName: string): Device | undefined {
  if (!resourceName.includes('/')) return undefined
  for (const row of DEVICES) {
    const match = row.name.exec(resourceName)
    if (match !== null) return row.device(match)
  }
  return undefined
}

/** Resource names that say how much of each GPU beside them is taken, in per cent: HAMi's and Volcano's (HAMi docs, "Resource names"). */
export const SHARE_PERCENTAGES: readonly string[] = [
  'nvidia.com/gpucores',
  'nvidia.com/gpumem-percentage',
  'volcano.sh/vgpu-cores',
  'volcano.sh/vgpu-memory-percentage',
  'aliyun.com/gpu-core.percentage',
]
/** The same in MiB: what part that is hangs on the GPU. */
export const SHARE_MEMORIES: readonly string[] = ['nvidia.com/gpumem', 'volcano.sh/vgpu-memory']

/** The maker whose GPUs a resource name means; undefined where it does not say. */
export function vendorOf(resourceName: string): Role['gpuVendor'] {
  if (resourceName.startsWith('nvidia.com/')) return 'NVIDIA'
  if (resourceName.startsWith('amd.com/')) return 'AMD'
  return resourceName.startsWith('gpu.intel.com/') ? 'Intel' : undefined
}

/**
 * A MIG slice as a share of its GPU. A100, H100, H200 and B200 have seven compute slices; the A30 has four, and its
 * profiles alone have 6 GB to a slice (NVIDIA MIG user guide, "Supported MIG profiles").
 */
export function migShare(profile: string): DeviceShare {
  const match = /^(\d+)g\.(\d+)gb/.exec(profile)
  if (match === null) return { kind: 'mig', profile }
  const slices = Number(match[1])
  const isA30 = Number(match[2]) === slices * 6
  return { kind: 'mig', profile, share: slices / (isA30 ? 4 : 7) }
}

/** `3g.40gb` of `2x 1g.10gb + 1x 3g.40gb`; undefined where no profile is named. */
export function largestProfile({ profile = '' }: DeviceShare): string | undefined {
  const named = Array.from(profile.matchAll(/\d+g\.(\d+)gb/g), ([name, memory]) => ({
    name,
    gigabytes: Number(memory),
  }))
  return named.toSorted((a, b) => b.gigabytes - a.gigabytes)[0]?.name
}

/** Resource names that Kubernetes itself defines for containers; every other name needs a domain. */
export function isNativeResource(name: string): boolean {
  return /^(?:cpu|memory|ephemeral-storage|hugepages-.+)$/.test(name) || /^(?:[\w.-]+\.)?kubernetes\.io\//.test(name)
}

/**
 * An image of NVIDIA's inference microservices, which is called by its model: `nvcr.io/nim/meta/llama-3.1-8b-instruct`; `nvidia/llm-nim`
 * serves any, which a variable names. Undefined for other images.
 */
export function nimImage(image: string): { readonly model?: string } | undefined {
  const model = /^nvcr\.io\/nim\/([\w.-]+\/[\w.-]+)/.exec(image)?.[1]
  if (model === undefined) return undefined
  return /^nvidia\/(?:multi-)?llm-nim$/.test(model) ? {} : { model }
}
