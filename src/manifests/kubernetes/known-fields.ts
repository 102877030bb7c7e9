import { type DocumentPath, isMapping, valueAt } from '../../document.ts'
import type { Warning } from '../../warning.ts'
import { nearestWord, words } from '../../word-list.ts'
import type { KubernetesObject } from './objects.ts'
import type { RoleReading } from './roles.ts'

const template = ['metadata', 'spec']
const resources = ['limits', 'requests', 'claims']
/** Fields of a Container. */
export const containerFields = words(`
  name image command args workingDir ports envFrom env resources resizePolicy restartPolicy restartPolicyRules
  volumeMounts volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath
  terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty
`)
/** Fields of a PodSpec. */
export const podSpecFields = words(`
  volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds
  activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName serviceAccount automountServiceAccountToken nodeName
  hostNetwork hostPID hostIPC shareProcessNamespace securityContext imagePullSecrets hostname subdomain affinity
  schedulerName tolerations hostAliases priorityClassName priority dnsConfig readinessGates runtimeClassName
  enableServiceLinks preemptionPolicy overhead topologySpreadConstraints setHostnameAsFQDN os hostUsers schedulingGates
  resourceClaims resources hostnameOverride workloadRef schedulingGroup evictionResponders
`)
const jobSpec = words(`
  parallelism completions activeDeadlineSeconds podFailurePolicy successPolicy backoffLimit backoffLimitPerIndex
  maxFailedIndexes failedPodsLimit selector manualSelector template ttlSecondsAfterFinished completionMode suspend
  podReplacementPolicy managedBy scheduling
`)

/** Fields of `spec` by group and kind. All lists here are those of k8s.io/api v0.37.2 (core/v1, batch/v1, apps/v1). */
const specs: Readonly<Record<string, readonly string[]>> = {
  'batch/Job': jobSpec,
  'batch/CronJob': words(`
    schedule timeZone startingDeadlineSeconds concurrencyPolicy suspend jobTemplate successfulJobsHistoryLimit
    failedJobsHistoryLimit
  `),
  'apps/Deployment': words(`
    replicas selector template strategy minReadySeconds revisionHistoryLimit paused progressDeadlineSeconds
  `),
  'apps/StatefulSet': words(`
    replicas selector template volumeClaimTemplates serviceName podManagementPolicy updateStrategy revisionHistoryLimit
    minReadySeconds persistentVolumeClaimRetentionPolicy ordinals
  `),
  'apps/ReplicaSet': ['replicas', 'minReadySeconds', 'selector', 'template'],
  'apps/DaemonSet': ['selector', 'template', 'updateStrategy', 'minReadySeconds', 'revisionHistoryLimit'],
}

/** Fields around what is read that Kubernetes does not know: kubectl refuses them, and what they were to say counts for nothing. */
export function unknownFieldWarnings(object: KubernetesObject, roles: readonly RoleReading[]): readonly Warning[] {
  const { document } = object
  const check = (path: DocumentPath, known: readonly string[] | undefined): readonly Warning[] => {
    const value = valueAt(document.value, path)
    if (known === undefined || !isMapping(value)) return []
    const unknown = Object.keys(value).filter(key => !known.includes(key))
    return unknown.map(key => unknownField(key, path, known, object))
  }
  const checkContainers = (path: DocumentPath): readonly Warning[] => {
    const list = valueAt(document.value, path)
    if (!Array.isArray(list)) return []
    return list.flatMap((_, index) => [
      ...check([...path, index], containerFields),
      ...check([...path, index, 'resources'], resources),
    ])
  }
  const isPod = object.group === '' && object.kind === 'Pod'
  return [
    ...check([...object.path, 'spec'], specs[`${object.group}/${object.kind}`]),
    ...(object.group === 'batch' && object.kind === 'CronJob'
      ? check([...object.path, 'spec', 'jobTemplate', 'spec'], jobSpec)
      : []),
    ...roles.flatMap(({ podPath }) => [
      ...(isPod ? [] : check(podPath, template)),
      ...check([...podPath, 'spec'], podSpecFields),
      ...checkContainers([...podPath, 'spec', 'initContainers']),
      ...checkContainers([...podPath, 'spec', 'containers']),
    ]),
  ]
}

function unknownField(
  key: string,
  path: DocumentPath,
  known: readonly string[],
  { document, kind }: KubernetesObject,
): Warning {
  const nearest = nearestWord(key, known)
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`
  const holder = path.findLast(step => typeof step === 'string') ?? kind
  const owner = typeof path.at(-1) === 'number' ? `an item of ${holder}` : holder
  const text = `${key} is no field of ${owner} (Kubernetes 1.37): kubectl refuses it, and it counts for nothing here${meant}`
  return { code: 'scheduler-will-refuse', text, place: document.placeOf([...path, key]) }
}
