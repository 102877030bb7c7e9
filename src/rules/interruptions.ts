import type { CommandLine } from '../command-lines.ts'
import { poolsOf } from '../gpu-choices.ts'
import { isSpot } from '../prices/price-source.ts'
import type { Checkpointing } from '../workload.ts'
import { isLostWithNode } from '../workloads/lost-folders.ts'
import type { Rule } from './rule.ts'
import { gpuLine, type Subject } from './subject.ts'

export const noGang: Rule = {
  id: 'no-gang',
  explanation:
    'Finds jobs of several GPU pods that Kubernetes may start one by one: those that came first hold their GPUs and wait for the others, perhaps for ever. Slurm starts all nodes of a job together.',
  settings: [],
  example: '{rule: no-gang}',
  smallestChange: 'a queue or scheduler that starts all pods together',
  check(subject, policy) {
    const { job } = subject.fare
    const pods = subject.roles.reduce((sum, role) => sum + role.replicas.value, 0)
    if (job.scheduler !== 'kubernetes' || job.endless || pods < 2 || job.gang !== undefined) return []
    const message = `${pods} pods with GPUs start one by one: the first hold their GPUs until the last finds room`
    const remedy = 'the label kueue.x-k8s.io/queue-name, or schedulerName volcano with a PodGroup, starts them together'
    return [{ level: policy.level ?? 'warn', place: gpuLine(subject), message, remedy }]
  },
}

export const spotWithoutCheckpoint: Rule = {
  id: 'spot-without-checkpoint',
  explanation:
    'Finds jobs on spot machines, which can be taken away at any time, that neither save checkpoints nor say so: what they did until then is lost and paid again.',
  settings: [],
  example: '{rule: spot-without-checkpoint, level: deny}',
  smallestChange: 'to save and say so, or a partition or node pool that is not spot',
  check(subject, policy) {
    const { job } = subject.fare
    if (!isOnSpot(subject) || job.declarations.checkpointIntervalSeconds !== undefined) return []
    const lost = lostFolder(subject)
    const saves =
      job.roles.some(role => role.commandLines.some(savesCheckpoints)) ||
      subject.fare.workloads.some(({ checkpoint }) => savesByItself(checkpoint))
    if (saves && lost === undefined) return []
    const cause =
      lost === undefined
        ? 'nothing in it saves checkpoints'
        : `its checkpoints go to ${lost}, which is lost with the node`
    const message = `it runs on spot machines, and ${cause}: an interruption loses all its work`
    const line =
      job.scheduler === 'kubernetes' ? 'gpufare.dev/checkpoint-interval: 30m' : '#GPUFARE checkpoint-interval=30m'
    const remedy = `save checkpoints and say so (${line}), or ask for machines that are not spot`
    return [{ level: policy.level ?? 'warn', place: gpuLine(subject), message, remedy }]
  },
}

/** Its node labels insist on it, its price is that of spot, or a pool it goes to is. */
function isOnSpot({ asWritten, roles, cluster, config }: Subject): boolean {
  if (roles.some(({ pin }) => pin?.spot?.value === true)) return true
  const own = config.clusters.find(({ name }) => name === cluster)
  const pools = own === undefined ? [] : roles.flatMap(role => poolsOf(role, own))
  return asWritten.some(({ tier }) => isSpot(tier)) || pools.some(pool => pool.spot)
}

/** The trainer's own settings say how often it saves. */
function savesByItself({ intervalSteps, intervalSeconds, intervalEpochs }: Checkpointing = {}): boolean {
  return (intervalSteps ?? intervalSeconds ?? intervalEpochs) !== undefined
}

/** A folder for checkpoints that goes with the node, where no run has another. */
function lostFolder({ fare: { job, workloads } }: Subject): string | undefined {
  const folders = workloads.flatMap(({ checkpoint, role }) => {
    const folder = checkpoint?.destination?.value
    return folder === undefined ? [] : [{ folder, role: job.roles.find(({ name }) => name === role) }]
  })
  return folders.every(({ folder, role }) => isLostWithNode(folder, role)) ? folders[0]?.folder : undefined
}

/** An option that saves checkpoints or goes on from one; recomputing activations only shares the name. */
function savesCheckpoints({ arguments: words }: CommandLine): boolean {
  return words.some(({ written }, index) => {
    const [, name = '', value = words[index + 1]?.written] = /^-{0,2}([\w.-]+)(?:=(.*))?$/.exec(written) ?? []
    const isOption = written.startsWith('-') || written.includes('=')
    const isNamed = /save|ckpt|checkpoint|resume/i.test(name) && !/gradient|activation|^no[-_]/i.test(name)
    return isOption && isNamed && !/^(no|none|false|never|0)$/i.test(value ?? '')
  })
}
