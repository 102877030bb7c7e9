import type { CommandLine } from './command-lines.ts'
import type { Declarations } from './declarations.ts'
import type { Place } from './errors.ts'
import type { Sourced } from './sourced.ts'
import type { Warning } from './warning.ts'

/** How the manifest says which GPU type it wants; the weaker ones are hints and are reported as guesses. */
export type GpuTypeBasis =
  | 'directive'
  | 'constraint'
  | 'label'
  | 'instance'
  | 'partition-hint'
  | 'account-hint'
  | 'comment'
  | 'none'

/** Whether a type is only guessed, from the name of something or from a comment. */
export function isGuess(basis: GpuTypeBasis): boolean {
  return basis === 'comment' || basis.endsWith('-hint')
}

/** The GPU type a role asks for, as its manifest spells it. */
export interface GpuTypeRequest {
  /** The names as written; several when any of them will do, none when no type is named. */
  readonly names: readonly Sourced<string>[]
  readonly basis: GpuTypeBasis
}

/** What a GPU has to be, where its type is left open. */
export interface GpuBounds {
  /** Types that will not do, as the manifest spells them. */
  readonly excluded: readonly Sourced<string>[]
  readonly leastMemoryBytes?: Sourced<number>
}

/** What one requested device is, where it is not a whole GPU. */
export interface DeviceShare {
  readonly kind: 'mig' | 'time-slice' | 'fraction'
  /** MIG profile such as `3g.40gb`. */
  readonly profile?: string
  /** Share of one physical GPU, 0 to 1; absent where it depends on the GPU type. */
  readonly share?: number
}

/** Where a role has to run, as far as node labels say it; what is absent is open. */
export interface Pin {
  /** Cloud, as the table of prices calls it: `gcp`. */
  readonly provider?: Sourced<string>
  /** Any of them will do. */
  readonly regions?: readonly Sourced<string>[]
  /** It insists on machines that can be taken away at any time, or on ones that cannot. */
  readonly spot?: Sourced<boolean>
}

/** A model that the object itself says it answers with, whichever program does it; what is absent is not said. */
export interface ServedModel {
  readonly place: Place
  readonly modelName?: Sourced<string>
  readonly framework?: Sourced<string>
  readonly tensorParallel?: Sourced<number>
}

/** A folder that a pod is given beside its own. */
export interface MountedFolder {
  readonly path: string
  readonly isLost: boolean
}

/** A set of equal machines (Slurm nodes, Kubernetes pods) within a job. */
export interface Role {
  readonly name: string
  /** Nodes or pods of one task. */
  readonly replicas: Sourced<number>
  /** GPUs of one replica; where replicas differ (`-G 12` on two nodes of 8) the largest. */
  readonly gpusPerReplica: Sourced<number>
  /** GPUs of one task of this role, all replicas together. */
  readonly gpuCount: Sourced<number>
  readonly gpuType: GpuTypeRequest
  /** The maker that the name of the GPU resource says (`amd.com/gpu`); absent where it says none. */
  readonly gpuVendor?: 'NVIDIA' | 'AMD' | 'Intel'
  readonly gpuBounds?: GpuBounds
  readonly pin?: Pin
  readonly deviceShare?: DeviceShare
  /** Accelerators that are no GPUs (`google.com/tpu`, `aws.amazon.com/neuron`) by resource name, per replica. */
  readonly otherAccelerators?: Readonly<Record<string, number>>
  readonly cpusPerReplica?: Sourced<number>
  readonly memoryBytesPerReplica?: Sourced<number | 'all'>
  /** Whole nodes are taken and billed, whatever was asked of them. */
  readonly exclusive: boolean
  /** Partition, node pool, queue: where it would run. */
  readonly partitions: readonly Sourced<string>[]
  readonly serves?: ServedModel
  /** Volumes of a pod by their paths in it; those that are lost with the pod (`emptyDir`) say so. */
  readonly mountedFolders?: readonly MountedFolder[]
  /** Programs this role starts, in the order of the script. */
  readonly commandLines: readonly CommandLine[]
  /** Runs of the whole role: array tasks, completions. */
  readonly tasks: number
  /** Tasks that run at one time. */
  readonly concurrentTasks: number
  /** Wall-clock limit of one task; absent where the manifest sets none. */
  readonly timeLimitSeconds?: Sourced<number>
  /** The limit is that of all tasks together (`activeDeadlineSeconds` of a Kubernetes Job), not of each. */
  readonly limitSpansTasks?: true
  /** An autoscaler or elastic job may change the replicas within these bounds; `replicas` is what it starts with. */
  readonly replicaRange?: { readonly smallest: number; readonly largest: number }
}

/** How the roles of a job take turns, as the steps of a workflow do. */
export interface Turns {
  /**
   * What may run at one time, by role and runs: for each role that holds GPUs the most that is there while it runs, and the most
   * of all.
   */
  readonly together: readonly (readonly { readonly role: string; readonly tasks: number }[])[]
  /** Seconds that all turns together may take. */
  readonly limitSeconds?: number
}

/** What a manifest asks for, whichever scheduler reads it. */
export interface Job {
  readonly name: string
  readonly scheduler: 'slurm' | 'kubernetes' | 'skypilot'
  /** What it is called by its scheduler: `batch script`, `Job`, `PyTorchJob`. */
  readonly kind: string
  readonly place: Place
  readonly roles: readonly Role[]
  /** Absent where all roles run beside each other. */
  readonly turns?: Turns
  /** Whether it ends by itself; a Deployment or a notebook does not. */
  readonly endless: boolean
  /** Something beside its programs ends it once nobody uses it. */
  readonly endsWhenIdle?: true
  /** What starts all pods of a Kubernetes job together or none; absent = nothing that is known. */
  readonly gang?: Sourced<string>
  /** Account, namespace, QOS and so on: where the question says it goes. */
  readonly destination: Readonly<Record<string, string>>
  /** Labels of a Kubernetes object, and Slurm's `wckey`: what its scheduler keeps of whom and what it is for. */
  readonly labels?: Readonly<Record<string, string>>
  /** `#GPUFARE` lines or `gpufare.dev/` annotations. */
  readonly declarations: Declarations
  readonly warnings: readonly Warning[]
  /** Scripts beside the manifest that it sources; what they set is known once the manifest comes with their texts. */
  readonly sources?: readonly string[]
}
