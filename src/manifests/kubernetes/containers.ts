import type { DocumentPath, YamlDocument } from '../../document.ts'
import type { Surroundings } from './neighbours.ts'
import type { Container, Pod, PodSpec } from './schema.ts'

/** A pod template, where it stands, and what stands around it. */
export interface PlacedPod {
  readonly pod: Pod
  readonly path: DocumentPath
  readonly document: YamlDocument
  readonly surroundings: Surroundings
  /** Init containers first, as they run. */
  readonly containers: readonly PlacedContainer[]
}

/** A container and where it stands. */
export interface PlacedContainer {
  readonly container: Container
  readonly path: DocumentPath
}

/** Says where a pod's containers stand. */
export function placePod(placed: Omit<PlacedPod, 'containers'>): PlacedPod {
  const { pod, path } = placed
  const place = (part: 'initContainers' | 'containers') =>
    (pod.spec[part] ?? []).map((container, index) => ({ container, path: [...path, 'spec', part, index] }))
  return { ...placed, containers: [...place('initContainers'), ...place('containers')] }
}

/**
 * What the scheduler reserves for a pod: init containers run one after the other and before the others, but those with
 * restartPolicy Always stay beside all that follow (kubernetes.io, "Sidecar containers", resource sharing).
 */
export function reservedFor(spec: PodSpec, amount: (container: Container) => number): number {
  let beside = 0
  let largest = 0
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') beside += amount(container)
    largest = Math.max(largest, beside + (container.restartPolicy === 'Always' ? 0 : amount(container)))
  }
  return Math.max(largest, beside + steadyAmount(spec, amount))
}

/** What the containers that run side by side ask for together. */
export function steadyAmount(spec: PodSpec, amount: (container: Container) => number): number {
  return spec.containers.reduce((sum, container) => sum + amount(container), 0)
}
