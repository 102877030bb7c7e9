import type { Gpu } from '../gpu.ts'

/** GPUs of one kind at work together, and the wires between them. */
export interface Hardware {
  readonly gpu: Gpu
  readonly gpuCount: number
  readonly gpusPerMachine: number
  /** Between the GPUs of one machine, bytes/s of one GPU, both directions together; absent = what the GPU has. */
  readonly linkBytesPerSecond?: number
  /** Network of a whole machine, bytes/s in one direction; absent = unknown. */
  readonly networkBytesPerSecond?: number
}

/** One direction of a x16 slot as copies reach it, by PCIe generation (NVIDIA bandwidthTest on common servers). */
const pcieBytesPerSecond: Readonly<Record<number, number>> = { 3: 12e9, 4: 24e9, 5: 48e9, 6: 96e9 }

/**
 * A network nobody described. Machines with NVLink between all GPUs are built with an adapter for each, as fast as its PCIe slot: 100
 * Gbit/s on a V100, 200 on an A100, 400 on an H100 or H800 (DGX data sheets; arXiv 2412.19437). Others get 100 Gbit/s for the whole machine.
 */
const adapterBytesPerSecond: Readonly<Record<number, number>> = { 3: 12.5e9, 4: 25e9, 5: 50e9, 6: 100e9 }
const usualNetworkBytesPerSecond = 12.5e9
const leastSwitchedLink = 300e9

/** What one GPU can send to its neighbours in the machine: NVLink (half of its both-direction figure), else the PCIe slot. */
export function linkRate({ gpu, linkBytesPerSecond }: Hardware): number {
  const nvlink = linkBytesPerSecond ?? gpu.linkBytesPerSecond
  return nvlink === undefined ? (pcieBytesPerSecond[gpu.pcieGeneration ?? 3] ?? 12e9) : nvlink / 2
}

/** What one GPU gets of its machine's network. */
export function networkRate(hardware: Hardware): number {
  const inUse = Math.min(hardware.gpuCount, hardware.gpusPerMachine)
  if (hardware.networkBytesPerSecond !== undefined) return hardware.networkBytesPerSecond / inUse
  const link = hardware.gpu.linkBytesPerSecond ?? 0
  const adapter = adapterBytesPerSecond[hardware.gpu.pcieGeneration ?? 3] ?? usualNetworkBytesPerSecond
  return link >= leastSwitchedLink ? adapter : usualNetworkBytesPerSecond / inUse
}

/** Shares of a wire's rate that collectives reach. */
export interface WireEfficiency {
  readonly linkShare: number
  readonly networkShare: number
}

/**
 * Seconds to gather (or to reduce and scatter) a buffer over `ranks` GPUs: (r-1)/r of it passes every GPU's wire (ring; Thakur et al.,
 * 2005). Over several machines it is hierarchical: inside the machine first, then every GPU exchanges its share over the network.
 */
export function gatherSeconds(bytes: number, ranks: number, hardware: Hardware, wires: WireEfficiency): number {
  if (ranks <= 1) return 0
  const inside = Math.min(ranks, hardware.gpusPerMachine)
  const machines = Math.ceil(ranks / inside)
  const insideSeconds = (((inside - 1) / inside) * bytes) / (linkRate(hardware) * wires.linkShare)
  const acrossBytes = ((machines - 1) / machines) * (bytes / inside)
  return insideSeconds + acrossBytes / (networkRate(hardware) * wires.networkShare)
}

/**
 * Seconds to send every token to its experts on `ranks` GPUs, or back. A token crosses the network once for each machine that has one
 * of its experts and goes on over the machine's own links (DeepSeek-V3, arXiv 2412.19437, section 3.2.2).
 */
export function allToAllSeconds(
  bytesOfTokens: number,
  expertsPerToken: number,
  ranks: number,
  hardware: Hardware,
  wires: WireEfficiency,
): number {
  const inside = Math.min(ranks, hardware.gpusPerMachine)
  const machines = Math.ceil(ranks / inside)
  const machinesMet = machines * (1 - (1 - 1 / machines) ** expertsPerToken)
  const insideBytes = bytesOfTokens * expertsPerToken * (1 - 1 / inside)
  const acrossBytes = bytesOfTokens * machinesMet * (1 - 1 / machines)
  return (
    insideBytes / (linkRate(hardware) * wires.linkShare) + acrossBytes / (networkRate(hardware) * wires.networkShare)
  )
}

/** An all-reduce is a reduce-scatter and a gather of the same bytes. */
export function allReduceSeconds(bytes: number, ranks: number, hardware: Hardware, wires: WireEfficiency): number {
  return 2 * gatherSeconds(bytes, ranks, hardware, wires)
}
