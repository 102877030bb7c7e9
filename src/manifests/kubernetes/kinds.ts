import type { DocumentPath } from '../../document.ts'

/** Where a kind keeps one of its roles, or all that stand side by side. */
export interface RoleRow {
  /** From the object to the role; `*` stands for every key of a mapping or item of a list. */
  readonly at: DocumentPath
  /** Absent: the key that `*` stands for, or the item's own `name`. */
  readonly name?: string
  /** From the role to its pod template, or to the pod itself. */
  readonly pod: DocumentPath
  /** From the role to its number of pods. */
  readonly replicas?: DocumentPath
  /** Pods where that number is not written: one unless the kind has another default. */
  readonly replicasByDefault?: number
  /** From the role to a pod template of another role that one of these pods is made from, where it is there. */
  readonly apartFrom?: DocumentPath
  /** From the role to numbers that multiply its pods: copies of the whole role. */
  readonly copies?: readonly DocumentPath[]
  /** From the role to the number of pods that have to succeed, where that is another number. */
  readonly completions?: DocumentPath
  /** From the role to how often all of its pods run, and how often at one time. */
  readonly runs?: { readonly tasks: DocumentPath; readonly atOnce: DocumentPath }
  /** From the role to its restart policy, where it is not the pod's. */
  readonly restartPolicy?: DocumentPath
  /** From the role to the bounds that its number of pods is kept within; `scaler` leads from the object to what switches their change on. */
  readonly range?: { readonly smallest: DocumentPath; readonly largest: DocumentPath; readonly scaler?: DocumentPath }
  /** From the role to a number of GPUs that its program is told beside what the pod asks for. */
  readonly toldGpus?: DocumentPath
  /** From the role to what it serves: a mapping of `model`, `framework` and `tensor`. */
  readonly serves?: DocumentPath
  /** From the role to the seconds that its pods together may take. */
  readonly deadline?: DocumentPath
  /** From the role to how often its failed pods are replaced. */
  readonly retries?: { readonly path: DocumentPath; readonly default: number }
  /** An object of this kind may be without it. */
  readonly optional?: true
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
  readonly retries?: {
    readonly paths: readonly DocumentPath[]
    readonly default?: number
    /** The version of the API that has this default, where others have none. */
    readonly defaultIn?: string
    /** They count only where a policy of the object or of one of its roles starts something again. */
    readonly byPolicy?: true
  }
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
  /** Its pods stand ready for programs that nobody has named yet. */
  readonly awaitsPrograms?: true
  /** Where it names another object that has its pods already; it brings none of its own then. */
  readonly runsOnOther?: { readonly at: DocumentPath; readonly kind: string }
  /** A command line that runs on its pods once they stand, and the YAML text with the variables it gets. */
  readonly entrypoint?: { readonly command: DocumentPath; readonly runtimeEnvironment: DocumentPath }
  /** YAML text of the applications that Ray Serve runs on its pods. */
  readonly serveConfig?: DocumentPath
  /** What its own controller does about starting all pods together. */
  readonly gang?: { readonly at: DocumentPath; readonly word: string; readonly always?: true }
  /** A queue, and a priority class, that the object itself names. */
  readonly queue?: DocumentPath
  readonly priority?: DocumentPath
  /** Where something says that its pods are deleted when the work is done; without that they stay and cost. */
  readonly cleansUp?: readonly DocumentPath[]
  /** A role whose programs run on another role's pods, as mpirun's do. */
  readonly startsOn?: { readonly launcher: string; readonly workers: string }
}

const BATCH_JOB: Omit<RoleRow, 'at'> = {
  name: 'job',
  pod: ['template'],
  replicas: ['parallelism'],
  completions: ['completions'],
}

const BATCH_RETRIES = 6

/** The Jobs that a JobSet or something that becomes one is made of: copies of a Job each, by name. */
function replicatedJobs(at: DocumentPath): RoleRow {
  return {
    at: [...at, 'replicatedJobs', '*'],
    pod: ['template', 'spec', 'template'],
    replicas: ['template', 'spec', 'parallelism'],
    completions: ['template', 'spec', 'completions'],
    copies: [['replicas']],
    deadline: ['template', 'spec', 'activeDeadlineSeconds'],
    retries: { path: ['template', 'spec', 'backoffLimit'], default: BATCH_RETRIES },
  }
}

/**
 * A Ray cluster: one head and groups of workers, kept within their bounds with or without Ray's autoscaler; no workers
 * are the default (ray-operator/apis/ray/v1/raycluster_types.go, controllers/ray/utils GetWorkerGroupDesiredReplicas).
 */
function rayCluster(at: DocumentPath): readonly RoleRow[] {
  return [
    {
      at,
      name: 'head',
      pod: ['headGroupSpec', 'template'],
      toldGpus: ['headGroupSpec', 'rayStartParams', 'num-gpus'],
    },
    {
      at: [...at, 'workerGroupSpecs', '*'],
      pod: ['template'],
      replicas: ['replicas'],
      replicasByDefault: 0,
      copies: [['numOfHosts']],
      toldGpus: ['rayStartParams', 'num-gpus'],
      range: {
        smallest: ['minReplicas'],
        largest: ['maxReplicas'],
        scaler: [...at, 'enableInTreeAutoscaling'],
      },
      optional: true,
    },
  ]
}

const RAY: Omit<Kind, 'kind' | 'roles'> = { group: 'ray.io', runsOneProgram: true }

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

/**
 * A kind is a row. Defaults are those of the API references of Kubernetes 1.37, training-operator 1.9, mpi-operator 0.6,
 * JobSet 0.10, Kubeflow Trainer 2.1, Volcano 1.14, KubeRay 1.5 and LeaderWorkerSet 0.7.
 */
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
      default: BATCH_RETRIES,
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
      default: BATCH_RETRIES,
    },
    schedule: ['spec', 'schedule'],
  },
  {
    group: 'kubeflow.org',
    kind: 'Notebook',
    roles: [{ at: ['spec'], name: 'notebook', pod: ['template'] }],
    endless: true,
    // There while it is stopped, with the time of that (notebook-controller, pkg/culler).
    suspend: ['metadata', 'annotations', 'kubeflow-resource-stopped'],
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
    // mpi-operator makes a Job of the launcher and leaves the number to that (pkg/apis/kubeflow/v2beta1/default.go).
    retries: { paths: [['spec', 'runPolicy', 'backoffLimit']], default: BATCH_RETRIES, defaultIn: 'v2beta1' },
    processesPerPod: ['spec', 'slotsPerWorker'],
    startsOn: { launcher: 'Launcher', workers: 'Worker' },
  },
  kubeflowJob('TFJob', 'tfReplicaSpecs'),
  kubeflowJob('XGBoostJob', 'xgbReplicaSpecs'),
  kubeflowJob('PaddleJob', 'paddleReplicaSpecs'),
  kubeflowJob('JAXJob', 'jaxReplicaSpecs'),
  {
    group: 'jobset.x-k8s.io',
    kind: 'JobSet',
    roles: [replicatedJobs(['spec'])],
    suspend: ['spec', 'suspend'],
    retries: { paths: [['spec', 'failurePolicy', 'maxRestarts']], default: 0 },
    runsOneProgram: true,
  },
  // The parts that trainjobs.ts puts together of a TrainJob and its runtime.
  {
    group: 'trainer.kubeflow.org',
    kind: 'TrainJob',
    roles: [{ ...replicatedJobs(['jobSet']), copies: [] }],
    deadline: ['spec', 'activeDeadlineSeconds'],
    suspend: ['spec', 'suspend'],
    retries: { paths: [['jobSet', 'failurePolicy', 'maxRestarts']], default: 0 },
    processesPerPod: ['processesPerNode'],
    runsOneProgram: true,
    gang: { at: ['podGroupPolicy'], word: 'podGroupPolicy' },
  },
  {
    group: 'batch.volcano.sh',
    kind: 'Job',
    roles: [{ at: ['spec', 'tasks', '*'], pod: ['template'], replicas: ['replicas'] }],
    // Three where none is written (volcano pkg/webhooks/admission/jobs/mutate), and only of what a policy starts again.
    retries: { paths: [['spec', 'maxRetry']], default: 3, byPolicy: true },
    runsOneProgram: true,
    gang: { at: ['spec', 'minAvailable'], word: 'minAvailable', always: true },
    queue: ['spec', 'queue'],
    priority: ['spec', 'priorityClassName'],
  },
  {
    group: 'batch.volcano.sh',
    kind: 'CronJob',
    roles: [{ at: ['spec', 'jobTemplate', 'spec', 'tasks', '*'], pod: ['template'], replicas: ['replicas'] }],
    suspend: ['spec', 'suspend'],
    retries: { paths: [['spec', 'jobTemplate', 'spec', 'maxRetry']], default: 3, byPolicy: true },
    schedule: ['spec', 'schedule'],
    runsOneProgram: true,
    gang: { at: ['spec', 'jobTemplate', 'spec', 'minAvailable'], word: 'minAvailable', always: true },
    queue: ['spec', 'jobTemplate', 'spec', 'queue'],
    priority: ['spec', 'jobTemplate', 'spec', 'priorityClassName'],
  },
  { ...RAY, kind: 'RayCluster', roles: rayCluster(['spec']), endless: true, awaitsPrograms: true },
  {
    ...RAY,
    kind: 'RayService',
    roles: rayCluster(['spec', 'rayClusterConfig']),
    endless: true,
    serveConfig: ['spec', 'serveConfigV2'],
  },
  {
    ...RAY,
    kind: 'RayJob',
    roles: rayCluster(['spec', 'rayClusterSpec']),
    deadline: ['spec', 'activeDeadlineSeconds'],
    suspend: ['spec', 'suspend'],
    retries: { paths: [['spec', 'backoffLimit']], default: 0 },
    runsOnOther: { at: ['spec', 'clusterSelector'], kind: 'RayCluster' },
    entrypoint: { command: ['spec', 'entrypoint'], runtimeEnvironment: ['spec', 'runtimeEnvYAML'] },
    cleansUp: [
      ['spec', 'shutdownAfterJobFinishes'],
      ['spec', 'deletionStrategy'],
    ],
  },
  {
    group: 'leaderworkerset.x-k8s.io',
    kind: 'LeaderWorkerSet',
    // `size` counts the leader; without a template of its own it is one more of the workers.
    roles: [
      {
        at: ['spec'],
        name: 'leader',
        pod: ['leaderWorkerTemplate', 'leaderTemplate'],
        copies: [['replicas']],
        optional: true,
      },
      {
        at: ['spec'],
        name: 'worker',
        pod: ['leaderWorkerTemplate', 'workerTemplate'],
        replicas: ['leaderWorkerTemplate', 'size'],
        apartFrom: ['leaderWorkerTemplate', 'leaderTemplate'],
        copies: [['replicas']],
      },
    ],
    endless: true,
    runsOneProgram: true,
  },
  {
    group: 'run.ai',
    kind: 'RunaiJob',
    roles: [{ at: ['spec'], ...BATCH_JOB }],
    deadline: ['spec', 'activeDeadlineSeconds'],
    suspend: ['spec', 'suspend'],
    retries: { paths: [['spec', 'backoffLimit']], default: BATCH_RETRIES },
  },
]

/** The row of a kind: names such as Job or Workload are used by several groups. */
export function findKind(group: string, kind: string): Kind | undefined {
  return KINDS.find(row => row.kind === kind && row.group === group)
}

/** How people tell a kind from one of the same name in another group: `Job (batch.volcano.sh)`. */
export function titleOf({ group, kind }: Pick<Kind, 'group' | 'kind'>): string {
  const first = KINDS.find(row => row.kind === kind)
  return first === undefined || first.group === group ? kind : `${kind} (${group})`
}
