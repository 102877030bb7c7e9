import type { Candidate } from '../candidates.ts'
import { findGpus, type Gpu } from '../gpu.ts'
import type { Hardware } from '../throughput/communication.ts'
import { p90Deviations, type Range } from './runtime-model.ts'

/** One run repeated on the same GPUs differs by about this much from the first (standard deviation of the logarithm). */
export const repeatSpread = 0.07

/** What a range says of itself, as a standard deviation of the logarithm: no less than that of a run repeated. */
export function sigmaOf({ p10, p90 }: Range): number {
  return Math.max(repeatSpread, Math.log(p90 / p10) / (2 * p90Deviations))
}

/** Elapsed time differs by this much more from what a steady rate promises: evaluation, checkpoints, restarts. */
export const elapsedSpread = 0.12

/**
 * A request repeated by the same user, where nothing says that its work is the same: 8 of 10 completed runs lie within a factor of 1.47
 * of the one before (1,894 pairs of 10 minutes and more on GPUs of the Helios cluster of 2020, Hu et al., SC 21), as a standard
 * deviation of the logarithm.
 */
export const unplannedSpread = 0.3

/** Most machines with data-centre GPUs hold eight. */
export const gpusOfUsualMachine = 8

/** The GPUs that a run of known time had. A name of several GPU types (`a100`) means the candidate's own where that is one of them. */
export function hardwareNamed(
  name: string | undefined,
  gpuCount: number,
  gpus: readonly Gpu[],
  candidate: Candidate,
): Hardware | undefined {
  const found = name === undefined ? [] : findGpus(name, gpus)
  const own = candidate.placements[0]?.gpu.name
  const gpu = found.find(each => each.name === own) ?? found[0]
  return gpu === undefined ? undefined : { gpu, gpuCount, gpusPerMachine: Math.min(gpuCount, gpusOfUsualMachine) }
}

/** As many GPUs of the same type. */
export function isSameHardware(a: Hardware, b: Hardware): boolean {
  return a.gpu.name === b.gpu.name && a.gpuCount === b.gpuCount
}
