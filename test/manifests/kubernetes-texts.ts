import type { Job } from '../../src/job.ts'
import type { Manifest } from '../../src/manifest.ts'
import { kubernetes } from '../../src/manifests/kubernetes/index.ts'

/** A manifest of this text, as if read from a file. */
export function manifestOf(text: string): Manifest {
  return {
    path: 'job.yaml',
    name: 'job.yaml',
    bytes: Buffer.from(text),
    text,
    schedulerArguments: [],
    scriptArguments: [],
    environment: {},
  }
}

/** The only job of a text. */
export function jobOf(text: string): Job {
  const [job, ...others] = kubernetes.read(manifestOf(text))
  if (job === undefined || others.length > 0) throw new Error('one job is expected')
  return job
}

/** Each role in short: `worker 2x8`, pods by GPUs of each. */
export function sizesOf(job: Job): readonly string[] {
  return job.roles.map(role => `${role.name} ${role.replicas.value}x${role.gpusPerReplica.value}`)
}

/** The texts of a job's warnings of one code. */
export function warned(job: Job, code: string): readonly string[] {
  return job.warnings.filter(warning => warning.code === code).map(warning => warning.text)
}

/** A pod template on one line, indented by nobody: for flow style. */
export function template(gpus: number, more = ''): string {
  return `{spec: {restartPolicy: Never, ${more}containers: [{name: main, image: example/train:1, resources: {limits: {nvidia.com/gpu: ${gpus}}}}]}}`
}
