import type { DeviceShare, Role } from '../../job.ts'

/** What a resource name asks for. */
export type Device =
  /** Whole GPUs; some sites put the GPU type into the name. */
  | { readonly kind: 'gpu'; readonly type?: string }
  /** A part of a GPU. */
  | { readonly kind: 'share'; readonly share: DeviceShare }
  /** An accelerator that is no GPU. */
  | { readonly kind: 'other' }

interface DeviceRow {
  readonly name: RegExp
  device(match: RegExpExecArray): Device
}

/**
 * Resource names that ask for accelerators, as their device plugins document them: NVIDIA k8s-device-plugin (`gpu`,
 * `gpu.shared`, `mig-1g.10gb`), ROCm k8s-device-plugin, Intel device plugins, Habana, GKE TPUs, AWS Neuron.
 * `nvidia.com/a100` and the like are names that sites with many GPU types give (NRP Nautilus, KubeVirt).
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
  { name: /^habana\.ai\/gaudi$/, device: () => ({ kind: 'other' }) },
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

/** Resource names that Kubernetes itself defines for containers; every other name needs a domain. */
export function isNativeResource(name: string): boolean {
  return /^(?:cpu|memory|ephemeral-storage|hugepages-.+)$/.test(name) || /^(?:[\w.-]+\.)?kubernetes\.io\//.test(name)
}
