import type { YamlDocument } from '../../document.ts'
import type { Pin } from '../../job.ts'
import { type Sourced, sourced, withoutAbsent } from '../../sourced.ts'
import type { RequiredLabel } from './gpu-type.ts'

/** Domains of node labels that only one cloud gives: GKE, EKS, AKS, DOKS and the providers of Karpenter. */
const CLOUDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:cloud\.google\.com|topology\.gke\.io|karpenter\.k8s\.gcp)\//, 'gcp'],
  [/^(?:(?:eks|k8s)\.amazonaws\.com|karpenter\.k8s\.aws|alpha\.eksctl\.io)\//, 'aws'],
  [/^(?:kubernetes|karpenter)\.azure\.com\//, 'azure'],
  [/^doks\.digitalocean\.com\//, 'digitalocean'],
]

/** Labels that say how a node is paid for, by the documentation of GKE, Karpenter, EKS and AKS. */
const CAPACITY_LABELS: readonly string[] = [
  'cloud.google.com/gke-provisioning',
  'karpenter.sh/capacity-type',
  'eks.amazonaws.com/capacityType',
  'kubernetes.azure.com/scalesetpriority',
]
const SPOT_FLAGS: readonly string[] = ['cloud.google.com/gke-spot', 'cloud.google.com/gke-preemptible']

const REGION_LABEL = /^(?:topology\.kubernetes|failure-domain\.beta\.kubernetes)\.io\/region$/
const ZONE_LABEL = /^(?:topology\.kubernetes\.io|failure-domain\.beta\.kubernetes\.io|topology\.gke\.io)\/zone$/

/** The cloud, the regions and the kind of capacity that the labels of a pod's node insist on; undefined where they say nothing of it. */
export function readPin(labels: readonly RequiredLabel[], document: YamlDocument): Pin | undefined {
  const said = <T>(label: RequiredLabel, value: T, index = 0): Sourced<T> =>
    sourced(value, { kind: 'manifest', place: document.placeOf(label.paths[index] ?? []) })
  const provider = labels.flatMap(label => {
    const cloud = CLOUDS.find(([domain]) => domain.test(label.key))?.[1]
    return cloud === undefined ? [] : [said(label, cloud)]
  })[0]
  const area = labels.find(({ key }) => REGION_LABEL.test(key)) ?? labels.find(({ key }) => ZONE_LABEL.test(key))
  const regions = area?.values.map((value, index) => said(area, regionOf(area.key, value), index))
  const spot = labels.flatMap(label => {
    const kind = capacityOf(label)
    return kind === undefined ? [] : [said(label, kind === 'spot')]
  })[0]
  const pin = withoutAbsent({ provider, regions, spot })
  return Object.keys(pin).length === 0 ? undefined : pin
}

/** Undefined where the label is about something else, or where either kind will do. */
function capacityOf({ key, values }: RequiredLabel): 'spot' | 'firm' | undefined {
  if (SPOT_FLAGS.includes(key)) return values.every(value => value === 'true') ? 'spot' : 'firm'
  if (!CAPACITY_LABELS.includes(key)) return undefined
  const isSpot = values.map(value => /^(?:spot|preemptible)$/i.test(value))
  if (isSpot.every(each => each)) return 'spot'
  return isSpot.some(each => each) ? undefined : 'firm'
}

/** `us-central1-a`, `us-east-1a` and `eastus-1` are zones. */
function regionOf(key: string, value: string): string {
  if (!ZONE_LABEL.test(key)) return value
  return value.replace(/(?<=\d)-[a-z]$|(?<=-\d+)[a-z]$|(?<=[a-z]\d?)-\d$/, '')
}
