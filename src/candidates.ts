import type { Gpu, UnknownGpu } from './gpu.ts'
import type { Machine } from './machine.ts'
import type { MemoryFit } from './memory.ts'

/** One role's share of a candidate. */
export interface Placement {
  readonly role: string
  /** What one requested device is: a GPU, a MIG slice of one, or a type that no table knows (`vendor: 'unknown'`). */
  readonly gpu: Gpu | UnknownGpu
  /** Devices the job uses in this role. */
  readonly gpuCount: number
  /** Part of a whole GPU that each device is and is paid for; 1 where absent. */
  readonly share?: number
  readonly machine: Machine
  /** Machines taken; their GPUs may be more than `gpuCount`, and then they are paid all the same. */
  readonly machineCount: number
  /** The machine is taken and paid whole (a cloud instance, `--exclusive`), not by the GPU (a shared node). */
  readonly wholeMachine: boolean
}

/** A GPU type and number that could run the job, or the reasons why it cannot. */
export interface Candidate {
  readonly asRequested: boolean
  readonly placements: readonly Placement[]
  readonly fit: MemoryFit
  /** Why it cannot run, with need and have; empty when it can. */
  readonly obstacles: readonly string[]
  /** What to know about it: `sold in eights`, `network decides`. */
  readonly remarks: readonly string[]
}
