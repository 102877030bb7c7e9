import type { Job } from './job.ts'
import type { Runtime } from './runtimes/runtime-model.ts'
import type { Warning } from './warning.ts'
import type { Workload } from './workload.ts'

/** A fact that no file says and that would make the quote better, as a key that the manifest can carry. */
interface MissingFact {
  readonly what: string
  readonly key: string
  readonly example: string
}

/** Names the lines that would turn a bound or a question mark into an estimate; none where there is an estimate. */
export function adviseOn(job: Job, workloads: readonly Workload[], runtime: Runtime | undefined): readonly Warning[] {
  const hasGpus = job.roles.some(role => role.gpuCount.value > 0)
  if (!hasGpus || job.endless || (runtime !== undefined && runtime.basis !== 'limit')) return []
  const facts = missingFacts(workloads)
  const lines = facts.map(({ key, example }) => asLine(job, key, example)).join(' and ')
  return [
    {
      code: saysNothing(workloads) ? 'no-training-facts' : 'no-estimate',
      text: `${sayMissing(facts)}: a line such as ${lines} makes this an estimate`,
    },
  ]
}

/** Whether no run that trains says how long; where none is understood at all, that is said of its program. */
function saysNothing(workloads: readonly Workload[]): boolean {
  const trained = workloads.filter(each => each.purpose === 'train' && each.device !== 'cpu')
  return trained.length > 0 && trained.every(isWithoutLength)
}

function isWithoutLength({ steps, epochs, samples, tokens }: Workload): boolean {
  return (steps ?? epochs ?? samples ?? tokens) === undefined
}

function missingFacts(workloads: readonly Workload[]): readonly MissingFact[] {
  const [workload, ...more] = workloads.filter(each => each.purpose === 'train')
  // A key holds for the whole manifest: of several runs only the time together can be said.
  if (workload === undefined || more.length > 0) return [{ ...runtimeFact, ...nameOfCode(workloads) }]
  // Steps give no time where each of them also waits for text that the model writes.
  if (workload.generates) return [runtimeFact]
  const facts = [...missingOfModel(workload), ...missingOfWork(workload)]
  return facts.length > 0 ? facts : [runtimeFact]
}

/** A simulation's time hangs on its input, which is not read. */
function nameOfCode(workloads: readonly Workload[]): Partial<MissingFact> {
  const framework = workloads.find(({ device }) => device === 'gpu')?.framework
  return framework === undefined ? {} : { what: `how long ${framework.value} takes on its input` }
}

const runtimeFact: MissingFact = { what: 'how long this takes', key: 'runtime', example: '4h' }

function missingOfModel({ model, modelName }: Workload): readonly MissingFact[] {
  if (model !== undefined) return []
  if (modelName === undefined) return [{ what: 'the model', key: 'model', example: 'meta-llama/Llama-2-7b-hf' }]
  return [{ what: `the size of ${modelName.value}`, key: 'params', example: '7B' }]
}

function missingOfWork({ steps, tokens, samples, epochs, globalBatch }: Workload): readonly MissingFact[] {
  if (tokens !== undefined || (samples !== undefined && epochs !== undefined)) return []
  if (steps !== undefined) {
    return globalBatch === undefined ? [{ what: 'the global batch', key: 'batch', example: '256' }] : []
  }
  if (epochs !== undefined) return [{ what: 'the number of samples', key: 'samples', example: '52000' }]
  return [{ what: 'the number of steps', key: 'steps', example: '20000' }]
}

function sayMissing(facts: readonly MissingFact[]): string {
  return `${facts.map(fact => fact.what).join(' and ')} ${facts.length > 1 ? 'are' : 'is'} not known`
}

function asLine(job: Job, key: string, example: string): string {
  return job.scheduler === 'kubernetes' ? `gpufare.dev/${key}: "${example}"` : `#GPUFARE ${key}=${example}`
}
