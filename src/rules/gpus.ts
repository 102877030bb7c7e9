import type { Placement } from '../candidates.ts'
import { gpusAtOnce } from '../gpus-in-use.ts'
import type { Policy } from '../rulebook.ts'
import { countOf } from '../units.ts'
import { anotherCandidate, fewerGpus, firstOf } from './remedies.ts'
import type { Rule } from './rule.ts'
import { gpuLine, isOn, type Subject } from './subject.ts'
import { describeWhere } from './where.ts'

export const gpuCount: Rule = {
  id: 'gpu-count',
  explanation: 'Limits the GPUs that a job holds at one time, all its roles and concurrent tasks together.',
  settings: ['limit: a number of GPUs'],
  example: '{rule: gpu-count, limit: 16, level: deny, where: {team: teaching}}',
  smallestChange: 'fewer array tasks at a time, fewer nodes, or fewer GPUs',
  check(subject, policy) {
    const count = gpusAtOnce(subject.fare.job)
    const limit = policy.limitGpus ?? Number.POSITIVE_INFINITY
    if (count <= limit) return []
    const message = `${countOf(count, 'GPU')} at one time is over ${limit}${describeWhere(policy.where)}`
    const remedy = firstOf(policy.rule, fewerGpus(subject, limit / count))
    return [{ level: policy.level ?? 'deny', place: gpuLine(subject), message, remedy }]
  },
}

export const forbiddenGpu: Rule = {
  id: 'forbidden-gpu',
  explanation: 'Forbids GPU types to a kind of job, or allows only some: notebooks need no H100.',
  settings: [
    'gpus: GPU types that are forbidden; or allowed: those that alone are allowed, where slice is a part of any',
    'jobs: session (notebook, editor, shell, sleep), train, evaluate, infer, serve, other; all where left out',
  ],
  example: '{rule: forbidden-gpu, jobs: [session], allowed: [t4, slice], level: deny}',
  smallestChange: 'a GPU type that is allowed and can run the job',
  check(subject, policy) {
    const { jobKinds, allowedGpus } = policy
    if (jobKinds.length > 0 && !jobKinds.some(kind => subject.kinds.has(kind))) return []
    const asked = subject.asWritten.flatMap(({ candidate }) => candidate.placements)
    const forbidden = asked.filter(placement => isForbidden(placement, subject, policy))
    if (forbidden.length === 0) return []
    const names = [...new Set(forbidden.map(({ gpu }) => gpu.name || 'any GPU type'))].join(', ')
    const about = jobKinds.length > 0 ? `${jobKinds.join(' or ')} jobs` : 'jobs'
    const rest = allowedGpus.length > 0 ? `, only ${allowedGpus.join(' or ')} is allowed` : ''
    const message = `${names} is forbidden for ${about}${describeWhere(policy.where)}${rest}`
    const other = anotherCandidate(
      subject,
      ({ candidate }) => !candidate.placements.some(placement => isForbidden(placement, subject, policy)),
    )
    const named = allowedGpus.length > 0 ? `ask for ${allowedGpus.join(' or ')}` : 'ask for another GPU type'
    return [{ level: policy.level ?? 'deny', place: gpuLine(subject), message, remedy: other ?? named }]
  },
}

function isForbidden(placement: Placement, { roles }: Subject, { forbiddenGpus, allowedGpus }: Policy): boolean {
  if (forbiddenGpus.some(name => isOn(placement, name))) return true
  if (allowedGpus.length === 0) return false
  const isSlice = roles.some(role => role.name === placement.role && role.deviceShare !== undefined)
  return !allowedGpus.some(name => (name === 'slice' ? isSlice : isOn(placement, name)))
}

export const doesNotFit: Rule = {
  id: 'does-not-fit',
  explanation:
    'Finds jobs that cannot run as they are written: too little memory, a number format that the GPU lacks, more nodes than there are. What is not known is not held against a job.',
  settings: [],
  example: '{rule: does-not-fit, level: deny}',
  smallestChange: 'the candidate that can run the job and is quickest',
  check(subject, policy) {
    const reasons = subject.asWritten.map(({ candidate }) => candidate.obstacles)
    if (reasons.length === 0 || reasons.some(each => each.length === 0)) return []
    const message = `it cannot run as written: ${[...new Set(reasons.flat())].join('; ')}`
    const remedy = firstOf(
      policy.rule,
      anotherCandidate(subject, () => true),
    )
    return [{ level: policy.level ?? 'deny', place: gpuLine(subject), message, remedy }]
  },
}

export const idleGpus: Rule = {
  id: 'idle-gpus',
  explanation: 'Finds GPUs that are asked for and get nothing to do, since the job starts fewer processes than GPUs.',
  settings: [],
  example: '{rule: idle-gpus, level: deny}',
  smallestChange: 'as many GPUs as there are processes',
  check(subject, policy) {
    const [run, ...others] = subject.fare.workloads
    const gpus = subject.roles.reduce((sum, role) => sum + role.gpuCount.value, 0)
    const processes = others.length === 0 ? run?.processes?.value : undefined
    const fewer = processes === undefined ? undefined : fewerGpus(subject, processes / gpus)
    return subject.fare.warnings
      .filter(({ code }) => code === 'idle-gpus')
      .map(({ text, place }) => ({
        level: policy.level ?? 'warn',
        place: place ?? gpuLine(subject),
        message: text,
        remedy: fewer ?? 'ask for as many GPUs as there are processes, or start a process for each GPU',
      }))
  },
}
