/** A resource of jobs. */
interface RunResource {
  readonly name: string
  /** Kinds of manifests whose runs are its objects, as jobs name them. */
  readonly kinds: readonly string[]
  /** What its pods name it by; absent where it has none of its own. */
  readonly podLabel?: string
}

const kubeflow = 'training.kubeflow.org/job-name'

/**
 * The resources whose objects end. Labels are those of Kubernetes since 1.27, training-operator 1.9 (mpi-operator 0.6 alike), JobSet 0.10 (which
 * Trainer 2.1 makes one of, of the same name), KubeRay 1.5, Volcano 1.14 and Argo Workflows 3.7.
 */
export const runResources: readonly RunResource[] = [
  { name: 'jobs.batch', kinds: ['Job', 'CronJob'], podLabel: 'batch.kubernetes.io/job-name' },
  { name: 'cronjobs.batch', kinds: [] },
  { name: 'pytorchjobs.kubeflow.org', kinds: ['PyTorchJob'], podLabel: kubeflow },
  { name: 'tfjobs.kubeflow.org', kinds: ['TFJob'], podLabel: kubeflow },
  { name: 'xgboostjobs.kubeflow.org', kinds: ['XGBoostJob'], podLabel: kubeflow },
  { name: 'jaxjobs.kubeflow.org', kinds: ['JAXJob'], podLabel: kubeflow },
  { name: 'paddlejobs.kubeflow.org', kinds: ['PaddleJob'], podLabel: kubeflow },
  { name: 'mpijobs.kubeflow.org', kinds: ['MPIJob'], podLabel: kubeflow },
  { name: 'trainjobs.trainer.kubeflow.org', kinds: ['TrainJob'], podLabel: 'jobset.sigs.k8s.io/jobset-name' },
  { name: 'jobsets.jobset.x-k8s.io', kinds: ['JobSet'], podLabel: 'jobset.sigs.k8s.io/jobset-name' },
  { name: 'rayjobs.ray.io', kinds: ['RayJob'], podLabel: 'ray.io/cluster' },
  { name: 'jobs.batch.volcano.sh', kinds: ['Job (batch.volcano.sh)'], podLabel: 'volcano.sh/job-name' },
  { name: 'workflows.argoproj.io', kinds: ['Workflow', 'CronWorkflow'], podLabel: 'workflows.argoproj.io/workflow' },
  { name: 'cronworkflows.argoproj.io', kinds: [] },
]

/** The resource that holds the runs of a kind (those of a CronJob are Jobs); undefined for kinds that do not end. */
export function resourceOf(kind: string): string | undefined {
  return runResources.find(({ kinds }) => kinds.includes(kind))?.name
}

/** Selects pods that none of these and no Deployment, StatefulSet or DaemonSet has made. */
export const barePods = [
  ...new Set(runResources.flatMap(({ podLabel = [] }) => podLabel)),
  ...['pod-template-hash', 'controller-revision-hash'],
]
  .map(label => `!${label}`)
  .join(',')
