import type { KubernetesObject } from '../objects.ts'
import { workflow } from './argo/index.ts'
import { inferenceService, llmInferenceService } from './kserve.ts'
import { scaledJob, workspace } from './others.ts'
import { runAiWorkload } from './run-ai.ts'
import { dynamoGraph, knativeService, nimService, seldonDeployment, seldonServer } from './services.ts'
import { sparkApplication } from './spark.ts'
import type { Translate } from './translation.ts'

/** Kinds whose pods stand in a shape of their own, by group and kind. */
const TRANSLATIONS: Readonly<Record<string, Translate>> = {
  'argoproj.io/Workflow': workflow,
  'argoproj.io/CronWorkflow': workflow,
  'argoproj.io/WorkflowTemplate': workflow,
  'argoproj.io/ClusterWorkflowTemplate': workflow,
  'serving.kserve.io/InferenceService': inferenceService,
  'serving.kserve.io/LLMInferenceService': llmInferenceService,
  'serving.kubeflow.org/InferenceService': inferenceService,
  'serving.knative.dev/Service': knativeService,
  'serving.knative.dev/Configuration': knativeService,
  'serving.knative.dev/Revision': knativeService,
  'machinelearning.seldon.io/SeldonDeployment': seldonDeployment,
  'apps.nvidia.com/NIMService': nimService,
  'nvidia.com/DynamoGraphDeployment': dynamoGraph,
  'mlops.seldon.io/Server': seldonServer,
  'sparkoperator.k8s.io/SparkApplication': sparkApplication,
  'sparkoperator.k8s.io/ScheduledSparkApplication': sparkApplication,
  'keda.sh/ScaledJob': scaledJob,
  'kubeflow.org/Workspace': workspace,
  'run.ai/TrainingWorkload': runAiWorkload,
  'run.ai/InteractiveWorkload': runAiWorkload,
  'run.ai/InferenceWorkload': runAiWorkload,
  'run.ai/DistributedWorkload': runAiWorkload,
}

/** Their names. */
export const TRANSLATED_KINDS: readonly string[] = [
  ...new Set(Object.keys(TRANSLATIONS).map(key => key.slice(key.indexOf('/') + 1))),
]

/** How an object of a shape of its own is read; undefined where its kind has none. */
export function translationFor({ group, kind }: KubernetesObject): Translate | undefined {
  return TRANSLATIONS[`${group}/${kind}`]
}
