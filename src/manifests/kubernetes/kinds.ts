import type { DocumentPath } from '../../document.ts'

/** Where a kind keeps one of its roles, or all that stand side by side. */
export interface RoleRow {
  /** From the object to the role; `*` stands for every key of a mapping or item of a list. */
  readonly at: DocumentPath
  /** Absent: the key that `*` stands for, or the item's own `name`. */
  readonly name?: string
  /** From the role to its pod template, or to the pod itself. */
  readonly pod: DocumentPath
  /** From the role to its number of pods; one where it is absent. */
  readonly replicas?: DocumentPath
  /** From the role to numbers that multiply its pods: copies of the whole role. */
  readonly copies?: readonly DocumentPath[]
  /** From the role to the number of pods that have to succeed, where that is another number. */
  readonly completions?: DocumentPath
  /** From the role to how often all of its pods run, and how often at one time. */
  readonly runs?: { readonly tasks: DocumentPath; readonly atOnce: DocumentPath }
  /** From the role to the bounds within which its own autoscaler keeps its pods. */
  readonly range?: { readonly smallest: DocumentPath; readonly largest: DocumentPath }
  /** From the role to its restart policy, where it is not the pod's. */
  readonly restartPolicy?: DocumentPath
}

/** One kind of object that runs pods, and what of it bears on cost. Paths lead from the object. */
export interface Kind {
  readonly group: string
  readonly kind: string
  readonly roles: readonly RoleRow[]
  /** It runs until somebody deletes it. */
  readonly endless?: true
  /** restartPolicy Always, the default, starts its program again even after it succeeded. */
  readonly restartsAfterSuccess?: true
  /** One pod on every node: how many there are is the cluster's affair. */
  readonly onEveryNode?: true
  /** The restart policies that the API server takes for its pods; absent = any. */
  readonly restartPolicies?: readonly string[]
  /** Seconds that all its pods together may take. */
  readonly deadline?: DocumentPath
  readonly suspend?: DocumentPath
  /** How often failed pods are replaced; the default is what the controller takes when none of the paths is set. */
  readonly retries?: { readonly paths: readonly DocumentPath[]; readonly default?: number }
  /** A cron expression. */
  readonly schedule?: DocumentPath
  /** Processes in each pod, as a rule one for each GPU. */
  readonly processesPerPod?: DocumentPath
  /** What the operator prepares every pod for, so that a program needs no launcher of its own. */
  readonly preparedFor?: 'torchrun'
  /** Smallest and largest number of pods of an elastic job. */
  readonly elastic?: { readonly role: string; readonly smallest: DocumentPath; readonly largest: DocumentPath }
  /** Roles that run one program together: it is listed once. */
  readonly runsOneProgram?: true
  /** A role whose programs run on another role's pods, as mpirun's do. */
  readonly startsOn?: { readonly launcher: string; readonly workers: string }
}

const BATCH_JOB: Omit<RoleRow, 'at'> = {
  name: 'job',
  pod: ['template'],
  replicas: ['parallelism'],
  completions: ['completions'],
}

/** The kinds of training-operator and mpi-operator: roles by name, one pod template each, a common run policy. */
function kubeflowJob(kind: string, roles: string): Kind {
  return {
    group: 'kubeflow.org',
    kind,
    roles: [{ at: ['spec', roles, '*'], pod: ['template'], replicas: ['replicas'], restartPolicy: ['restartPolicy'] }],
    deadline: ['spec', 'runPolicy', 'activeDeadlineSeconds'],
    suspend: ['spec', 'runPolicy', 'suspend'],
    retries: { paths: [['spec', 'runPolicy', 'backoffLimit']] },
    runsOneProgram: true,
  }
}

/** Kinds of apps/v1 and the like: as many equal pods as `replicas` says, for ever. */
function service(group: string, kind: string): Kind {
  const role = { at: ['spec'], name: kind.toLowerCase(), pod: ['template'], replicas: ['replicas'] }
  return { group, kind, roles: [role], endless: true }
}

/** A kind is a row. Defaults are those of the API references of Kubernetes 1.37, training-operator 1.9 and mpi-operator 0.6. */
export const KINDS: readonly Kind[] = [
  { group: '', kind: 'Pod', roles: [{ at: [], name: 'pod', pod: [] }], restartsAfterSuccess: true },
  {
    group: 'batch',
    kind: 'Job',
    roles: [{ at: ['spec'], ...BATCH_JOB }],
    restartPolicies: ['OnFailure', 'Never'],
    deadline: ['spec', 'activeDeadlineSeconds'],
    suspend: ['spec', 'suspend'],
    retries: {
      paths: [
        ['spec', 'backoffLimitPerIndex'],
        ['spec', 'backoffLimit'],
      ],
      default: 6,
    },
  },
  {
    group: 'batch',
    kind: 'CronJob',
    roles: [{ at: ['spec', 'jobTemplate', 'spec'], ...BATCH_JOB }],
    restartPolicies: ['OnFailure', 'Never'],
    deadline: ['spec', 'jobTemplate', 'spec', 'activeDeadlineSeconds'],
    suspend: ['spec', 'suspend'],
    retries: {
      paths: [
        ['spec', 'jobTemplate', 'spec', 'backoffLimitPerIndex'],
        ['spec', 'jobTemplate', 'spec', 'backoffLimit'],
      ],
      default: 6,
    },
    schedule: ['spec', 'schedule'],
  },
  service('apps', 'Deployment'),
  service('apps', 'StatefulSet'),
  service('apps', 'ReplicaSet'),
  service('', 'ReplicationController'),
  { ...service('apps', 'DaemonSet'), onEveryNode: true },
  {
    ...kubeflowJob('PyTorchJob', 'pytorchReplicaSpecs'),
    processesPerPod: ['spec', 'nprocPerNode'],
    preparedFor: 'torchrun',
    elastic: {
      role: 'Worker',
      smallest: ['spec', 'elasticPolicy', 'minReplicas'],
      largest: ['spec', 'elasticPolicy', 'maxReplicas'],
    },
  },
  {
    ...kubeflowJob('MPIJob', 'mpiReplicaSpecs'),
    processesPerPod: ['spec', 'slotsPerWorker'],
    startsOn: { launcher: 'Launcher', workers: 'Worker' },
  },
  kubeflowJob('TFJob', 'tfReplicaSpecs'),
  kubeflowJob('XGBoostJob', 'xgbReplicaSpecs'),
  kubeflowJob('PaddleJob', 'paddleReplicaSpecs'),
  kubeflowJob('JAXJob', 'jaxReplicaSpecs'),
]

/** Kinds without pods of their own, by group; `*` is the whole group. */
const WITHOUT_PODS: Readonly<Record<string, readonly string[]>> = {
  '': [
    'ConfigMap',
    'Endpoints',
    'Event',
    'LimitRange',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'PodTemplate',
    'ResourceQuota',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  apps: ['ControllerRevision'],
  'keda.sh': ['ScaledObject', 'TriggerAuthentication', 'ClusterTriggerAuthentication'],
  'trainer.kubeflow.org': ['TrainingRuntime', 'ClusterTrainingRuntime'],
  'argoproj.io': ['WorkflowTemplate', 'ClusterWorkflowTemplate', 'AppProject', 'Application'],
  'serving.kserve.io': ['ServingRuntime', 'ClusterServingRuntime'],
  'kueue.x-k8s.io': ['*'],
  'scheduling.volcano.sh': ['*'],
  'scheduling.x-k8s.io': ['*'],
  'admissionregistration.k8s.io': ['*'],
  'apiextensions.k8s.io': ['*'],
  'apiregistration.k8s.io': ['*'],
  'autoscaling.k8s.io': ['*'],
  autoscaling: ['*'],
  'bitnami.com': ['SealedSecret'],
  'cert-manager.io': ['*'],
  'certificates.k8s.io': ['*'],
  'coordination.k8s.io': ['*'],
  'discovery.k8s.io': ['*'],
  'events.k8s.io': ['*'],
  'external-secrets.io': ['*'],
  'flowcontrol.apiserver.k8s.io': ['*'],
  'gateway.networking.k8s.io': ['*'],
  'karpenter.k8s.aws': ['*'],
  'karpenter.sh': ['*'],
  'kustomize.config.k8s.io': ['*'],
  'monitoring.coreos.com': ['ServiceMonitor', 'PodMonitor', 'PrometheusRule', 'Probe', 'ScrapeConfig'],
  'networking.istio.io': ['*'],
  'networking.k8s.io': ['*'],
  'node.k8s.io': ['*'],
  policy: ['*'],
  'rbac.authorization.k8s.io': ['*'],
  'resource.k8s.io': ['*'],
  'scheduling.k8s.io': ['*'],
  'security.istio.io': ['*'],
  'snapshot.storage.k8s.io': ['*'],
  'storage.k8s.io': ['*'],
  'traefik.io': ['*'],
}

/** The row of a kind: names such as Job or Workload are used by several groups. */
export function findKind(group: string, kind: string): Kind | undefined {
  return KINDS.find(row => row.kind === kind && row.group === group)
}

/** Whether objects of this kind are known to run no pods. */
export function runsNoPods(group: string, kind: string): boolean {
  const kinds = WITHOUT_PODS[group] ?? []
  return kinds.includes('*') || kinds.includes(kind)
}
