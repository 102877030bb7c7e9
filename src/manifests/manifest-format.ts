import type { Job } from '../job.ts'
import type { Manifest } from '../manifest.ts'

/** How the target cluster calls what another candidate is, so that a manifest can ask for it. */
export interface Retarget {
  /** Replicas (nodes, pods) of each role that holds GPUs, and GPUs of each replica. */
  readonly replicas: number
  readonly gpusPerReplica: number
  /** Partition (Slurm) to go to; absent = stays. */
  readonly partition?: string
  /** GRES type (Slurm), as in `gpu:TYPE:8`; absent = untyped. */
  readonly gresType?: string
  /** Node labels (Kubernetes) that select the pool. */
  readonly nodeSelector?: Readonly<Record<string, string>>
  /** Resource name (Kubernetes), such as `nvidia.com/gpu`. */
  readonly resourceName?: string
}

/** One way of writing a job down: a Slurm script, Kubernetes YAML, a SkyPilot task. Reads as its scheduler reads. */
export interface ManifestFormat {
  readonly name: Job['scheduler']
  recognises(manifest: Manifest): boolean
  /** The jobs it holds. Throws InputError with every fault found. */
  read(manifest: Manifest): readonly Job[]
  /** The same text asking for something else, nothing else changed: comments and formatting stay. Throws GpufareError where it cannot be done safely. */
  retarget(manifest: Manifest, target: Retarget): string
}
