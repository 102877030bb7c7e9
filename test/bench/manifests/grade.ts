import { commonGpuNames, type Gpu } from '../../../src/gpu.ts'
import { readQuantity } from '../../../src/manifests/kubernetes/quantities.ts'
import type { ReportDocument } from '../../../src/reporters/schema.ts'
import { secondsPerHour } from '../../../src/units.ts'
import type { ExpectedAnswer, ExpectedRole, ExpectedWorkload } from './case-schema.ts'

/** One fact of expected.yaml beside what the report says of it. */
export interface Fact {
  readonly key: string
  readonly expected: string
  readonly got: string
  /** `unknown`: no answer where there is one; `guessed`: an answer where none can be known. */
  readonly verdict: 'right' | 'wrong' | 'unknown' | 'guessed'
}

/** How the report on one case compares. */
export interface Grade {
  readonly facts: readonly Fact[]
  readonly warnings: {
    readonly expected: number
    readonly missing: readonly string[]
    /** Codes that the case does not ask for; whether they are true is for a reader to judge. */
    readonly spurious: readonly { readonly code: string; readonly text: string }[]
  }
}

type Job = ReportDocument['jobs'][number]
type Role = Job['roles'][number]
type Workload = Job['workloads'][number]

/** A value of the report. What is marked as assumed is no claim about the manifest. */
interface Said {
  readonly value: unknown
  readonly assumed: boolean
}

/** Compares one expected value with one that was said; `doubted` where a careful reader could answer otherwise. */
type Judge = (key: string, want: unknown, said: Said | undefined, agree?: Agree) => Fact | undefined
type Agree = (want: unknown, got: unknown) => boolean

/** The codes of the cases' own list: only these can be spurious. */
const knownCodes = new Set(
  `no-time-limit gpu-type-unknown gpu-type-hint-only gpu-type-ambiguous gpu-count-inferred gpu-count-unknown exclusive-whole-node
  directive-ignored variable-in-directive time-format-trap conflict unresolved-template unknown-arguments fractional-gpu
  no-training-facts autoscaling-range long-running-service multiple-runs child-jobs retries-multiply-cost suspended
  accelerator-not-gpu last-flag-wins idle-gpus time-limit-too-short-to-judge recurring external-file-missing default-filled`.split(
    /\s+/,
  ),
)

/** Holds a report against what is expected; no report says nothing but the codes of what is wrong. */
export function gradeAnswer(
  expected: ExpectedAnswer,
  report: ReportDocument | undefined,
  gpus: readonly Gpu[],
  faultCodes: readonly string[] = [],
): Grade {
  const jobs = report?.jobs ?? []
  const judge = judgeWith(expected.uncertain === true ? (expected.uncertain_why ?? '') : '')
  const facts = [
    ...gradeRoles(expected.resources ?? [], jobs, judge, gpus),
    ...gradeTotals(expected, jobs, judge),
    ...gradeWorkload(expected, jobs, judge),
  ]
  return { facts, warnings: gradeWarnings(expected.must_warn ?? [], jobs, faultCodes) }
}

function gradeWarnings(
  wanted: readonly string[],
  jobs: readonly Job[],
  faultCodes: readonly string[],
): Grade['warnings'] {
  const given = jobs.flatMap(job => job.warnings)
  const codes = new Set([...faultCodes, ...given.map(warning => warning.code)])
  return {
    expected: wanted.length,
    missing: wanted.filter(code => !codes.has(code)),
    spurious: given.filter(({ code }) => knownCodes.has(code) && !wanted.includes(code)),
  }
}

/** Words of `uncertain_why` that put a key in doubt. */
const doubts: Readonly<Record<string, RegExp>> = {
  framework: /framework/i,
  model: /model|encoder|network|is openfold|resnet/i,
  params_b: /model|params|whole network/i,
  dataset: /dataset|public/i,
  steps: /steps|values are defaults/i,
  epochs: /epochs|hyper-parameters/i,
  samples: /samples/i,
  global_batch: /batch|may leave tp/i,
  micro_batch: /batch/i,
  precision: /precision/i,
  'parallel.tp': /leave tp/i,
  'parallel.pp': /leave tp/i,
  'parallel.dp': /leave tp/i,
  gpu_type: /type|null|guess|mi250x|v100|named|memory label/i,
  gpu_type_basis: /guess|null|memory label/i,
  gpus_per_replica: /asks for a gpu|a pod|nodes is not given/i,
  total_gpus: /asks for a gpu|a pod|nodes is not given/i,
  gpus: /asks for a gpu|a pod|nodes is not given/i,
  gpu_hours_at_limit: /dies|deadline|maxrun|counts/i,
  nodes: /nodes is not given/i,
  gpu_share: /slice/i,
  cpus: /cpus|limits/i,
  memory: /memory may|limits|memory of/i,
  time_limit_hours: /maxrun|deadline/i,
}

function judgeWith(doubt: string): Judge {
  return (key, want, said, agree = agreesExactly) => {
    if (want === undefined) return undefined
    const isDoubted = doubt !== '' && doubts[key.split(' ').at(-1) ?? '']?.test(doubt) === true
    return { key, expected: show(want), got: show(said?.value), verdict: verdictOn(want, said, agree, isDoubted) }
  }
}

function verdictOn(want: unknown, said: Said | undefined, agree: Agree, isDoubted: boolean): Fact['verdict'] {
  if (want === null) return said === undefined || said.assumed || isDoubted ? 'right' : 'guessed'
  if (said === undefined) return isDoubted ? 'right' : 'unknown'
  return agree(want, said.value) ? 'right' : 'wrong'
}

function show(value: unknown): string {
  if (value === undefined || value === null) return 'unknown'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Numbers to within rounding; words in any case. */
function agreesExactly(want: unknown, got: unknown): boolean {
  if (typeof want === 'number' && typeof got === 'number') return within(want, got, 0.001)
  return String(want).toLowerCase() === String(got).toLowerCase()
}

function within(want: number, got: number, share: number): boolean {
  return Math.abs(got - want) <= Math.abs(want) * share
}

interface Sourced {
  readonly value: unknown
  readonly origin: { readonly kind: string }
}

function said(sourced: Sourced | undefined): Said | undefined {
  return sourced && { value: sourced.value, assumed: sourced.origin.kind === 'assumed' }
}

function plain(value: unknown): Said | undefined {
  return value === undefined ? undefined : { value, assumed: false }
}

function present(facts: readonly (Fact | undefined)[]): Fact[] {
  return facts.flatMap(fact => fact ?? [])
}

function gradeRoles(wanted: readonly ExpectedRole[], jobs: readonly Job[], judge: Judge, gpus: readonly Gpu[]): Fact[] {
  const roles = jobs.flatMap(job => job.roles)
  return wanted.flatMap((each, index) => {
    const named = roles.find(({ name }) => name.toLowerCase() === each.role.toLowerCase())
    const role = named ?? (roles.length === wanted.length ? roles[index] : undefined)
    return gradeRole(each, role, judge, wanted.length === 1 ? '' : `${each.role} `, gpus)
  })
}

/** Every fact of one role. */
function gradeRole(
  want: Omit<ExpectedRole, 'role'>,
  role: Role | undefined,
  judge: Judge,
  prefix: string,
  gpus: readonly Gpu[],
): Fact[] {
  const told = (key: string, value: unknown, got: Said | undefined, agree?: Agree): Fact | undefined =>
    judge(prefix + key, value, got, agree)
  const hours = role?.timeLimitSeconds
  // no basis is no answer, unless that is the answer
  const basis = role?.gpuTypeBasis === 'none' && want.gpu_type_basis !== 'none' ? undefined : role?.gpuTypeBasis
  return present([
    told('nodes', want.nodes, said(role?.replicas)),
    told('replicas', want.replicas, said(role?.replicas)),
    told('min_replicas', want.min_replicas, plain(role?.replicaRange?.smallest)),
    told('max_replicas', want.max_replicas, plain(role?.replicaRange?.largest)),
    told('gpus_per_replica', want.gpus_per_replica, said(role?.gpusPerReplica)),
    told('total_gpus', want.total_gpus, role && heldAtOnce(role)),
    ...gradeType(want, role, told, gpus),
    told('gpu_type_basis', want.gpu_type_basis, plain(basis)),
    told('gpu_share', want.gpu_share, plain(role?.deviceShare?.share), sharesOf(role)),
    told('mig_profile', want.mig_profile, plain(role?.deviceShare?.profile)),
    told('cpus', want.cpus, said(role?.cpusPerReplica)),
    told('memory', want.memory, said(role?.memoryBytesPerReplica), agreesInBytes),
    told('time_limit_hours', want.time_limit_hours, hours && said({ ...hours, value: hours.value / secondsPerHour })),
    told('tasks', want.tasks, plain(role?.tasks)),
    told('max_concurrent', want.max_concurrent, plain(role?.concurrentTasks)),
  ])
}

function heldAtOnce({ gpuCount, concurrentTasks }: Role): Said {
  return { value: gpuCount.value * concurrentTasks, assumed: gpuCount.origin.kind === 'assumed' }
}

function agreesInBytes(want: unknown, got: unknown): boolean {
  return want === got || readQuantity(String(want)) === got
}

/** Of devices that are not alike a case may give the sum of a pod, the report gives the mean. */
function sharesOf(role: Role | undefined): Agree {
  const isMixture = role?.deviceShare?.profile?.includes(' + ') === true
  const devices = role?.gpusPerReplica.value ?? 1
  return (want, got) =>
    within(Number(want), Number(got), 0.01) || (isMixture && within(Number(want), Number(got) * devices, 0.01))
}

/** The type, or all that will do; a guess counts as one only where the basis says so. */
function gradeType(
  want: Omit<ExpectedRole, 'role'>,
  role: Role | undefined,
  told: (key: string, value: unknown, got: Said | undefined, agree?: Agree) => Fact | undefined,
  gpus: readonly Gpu[],
): (Fact | undefined)[] {
  const common = (name: string): string => commonGpuNames(name, gpus)[0] ?? name.toLowerCase()
  const names = role?.gpuTypes.map(type => type.gpu ?? type.value.toLowerCase()) ?? []
  const got = plain(names.length === 0 ? undefined : [...new Set(names)].sort().join(' or '))
  const isHint = role !== undefined && /-hint$|^comment$/.test(role.gpuTypeBasis)
  const several = want.gpu_type_alternatives
  if (several !== undefined) return [told('gpu_type_alternatives', several.map(common).sort().join(' or '), got)]
  if (want.gpu_type === undefined) return []
  if (want.gpu_type !== null) return [told('gpu_type', common(want.gpu_type), isHint ? undefined : got)]
  const isRightHint = isHint && want.gpu_type_hint !== undefined && common(want.gpu_type_hint) === got?.value
  return [told('gpu_type', null, got && { ...got, assumed: isRightHint })]
}

function gradeTotals({ totals }: ExpectedAnswer, jobs: readonly Job[], judge: Judge): Fact[] {
  const sum = (figure: (job: Job) => number | undefined): Said | undefined => {
    const figures = jobs.map(figure)
    const known = figures.flatMap(each => each ?? [])
    return jobs.length === 0 || known.length < figures.length
      ? undefined
      : plain(known.reduce((total, each) => total + each, 0))
  }
  const nobodyAsked = jobs.every(job => job.roles.every(({ gpuCount }) => gpuCount.origin.kind === 'assumed'))
  const gpus = sum(job => job.totals.gpus)
  return present([
    judge('totals gpus', totals?.gpus, gpus && { ...gpus, assumed: nobodyAsked }),
    judge('totals gpus_max', totals?.gpus_max, sum(gpusAtMost)),
    judge(
      'totals gpu_hours_at_limit',
      totals?.gpu_hours_at_limit,
      sum(job => job.totals.gpuHoursAtLimit),
    ),
  ])
}

function gpusAtMost(job: Job): number {
  return job.roles.reduce((total, { replicas, replicaRange, gpusPerReplica, concurrentTasks }) => {
    return total + (replicaRange?.largest ?? replicas.value) * gpusPerReplica.value * concurrentTasks
  }, 0)
}

function gradeWorkload(
  { workload: want, other_steps: others }: ExpectedAnswer,
  jobs: readonly Job[],
  judge: Judge,
): Fact[] {
  const workloads = jobs.flatMap(job => job.workloads)
  if (want === undefined) return []
  const working = workloads.filter(({ purpose }) => purpose !== 'other')
  if (want === null) return present([judge('workload', null, plain(working[0]?.purpose))])
  const purpose = ourPurpose(want.purpose ?? 'train')
  const same = workloads.filter(workload => workload.purpose === purpose)
  // A step that prepares on CPUs is not what the job is there for.
  const main = same.find(({ device }) => device !== 'cpu') ?? same[0] ?? workloads[0]
  return [...gradeFacts(want, main, same, judge), ...(others ?? []).map(step => gradeStep(step, main, workloads))]
}

function ourPurpose(purpose: string): string {
  return purpose === 'eval' ? 'evaluate' : purpose
}

/** Every fact of the main run; `same` are all runs of its purpose. */
function gradeFacts(
  want: ExpectedWorkload,
  main: Workload | undefined,
  same: readonly Workload[],
  judge: Judge,
): Fact[] {
  const model = main?.model
  const split = main?.parallelism?.value
  const runs = same.reduce((sum, each) => sum + each.runs, 0)
  const purpose = want.purpose === undefined || want.purpose === null ? want.purpose : ourPurpose(want.purpose)
  const inBillions = (count: number | undefined): Said | undefined =>
    model && count !== undefined ? said({ ...model, value: count / 1e9 }) : undefined
  const roughly: Agree = (a, b) => within(Number(a), Number(b), 0.05)
  return present([
    judge('purpose', purpose, plain(main?.purpose)),
    judge('framework', want.framework, said(main?.framework), sameFramework),
    judge('model', want.model, said(main?.modelName ?? (model && { ...model, value: model.value.name })), sameName),
    judge('params_b', want.params_b, inBillions(model?.value.parameterCount), roughly),
    judge('active_params_b', want.active_params_b, inBillions(model?.value.activeParameterCount), roughly),
    judge('dataset', want.dataset, said(main?.dataset), sameName),
    judge('steps', want.steps, said(main?.steps)),
    judge('epochs', want.epochs, said(main?.epochs)),
    judge('samples', want.samples, said(main?.samples)),
    judge('tokens', want.tokens, said(main?.tokens)),
    judge('global_batch', want.global_batch, said(main?.globalBatch)),
    judge('micro_batch', want.micro_batch, said(main?.microBatch)),
    judge('grad_accum', want.grad_accum, said(main?.gradientAccumulation)),
    judge('seq_len', want.seq_len, said(main?.sequenceLength)),
    judge('precision', want.precision, said(main?.precision)),
    judge('method', want.method, said(main?.method)),
    judge('runs', want.runs, runs === 0 ? undefined : plain(runs)),
    judge('parallel.tp', want.parallel?.tp, plain(split?.tensor)),
    judge('parallel.pp', want.parallel?.pp, plain(split?.pipeline)),
    judge('parallel.dp', want.parallel?.dp, plain(split?.data)),
  ])
}

/** `custom-pytorch` is a user's own script on PyTorch, which the report calls `pytorch`. */
function sameFramework(want: unknown, got: unknown): boolean {
  const plainly = (name: unknown): string =>
    String(name)
      .toLowerCase()
      .replace(/^custom-/, '')
  return plainly(want) === plainly(got)
}

/** A name with or without its owner and a remark in brackets, in any separators; of a list, each of the names. */
function sameName(want: unknown, got: unknown): boolean {
  const plainly = (name: string): string =>
    name
      .toLowerCase()
      .replace(/ \(.*\)$/, '')
      .replace(/[\s._-]/g, '')
  const given = String(got).split(/,\s*/).map(plainly)
  const wanted = [want].flat().map(name => plainly(String(name)))
  const known = (name: string): boolean =>
    wanted.some(each => each === name || each.split('/').at(-1) === name.split('/').at(-1))
  return given.every(known)
}

interface Step {
  readonly purpose: string
  readonly framework?: string | undefined
  readonly model?: string | undefined
  readonly runs?: number | undefined
}

function gradeStep(step: Step, main: Workload | undefined, workloads: readonly Workload[]): Fact {
  const matching = workloads.filter(
    workload =>
      workload !== main &&
      workload.purpose === ourPurpose(step.purpose) &&
      (step.framework === undefined || sameFramework(step.framework, workload.framework?.value)) &&
      (step.model === undefined || sameName(step.model, workload.modelName?.value)),
  )
  const runs = matching.reduce((sum, { repetitions }) => sum + repetitions, 0)
  const isThere = matching.length > 0 && (step.runs === undefined || step.runs === runs)
  const others = workloads.filter(workload => workload !== main)
  return {
    key: 'other_steps',
    expected: Object.values(step).join(' '),
    got: others.map(other => `${other.purpose} ${other.framework?.value ?? ''}`.trim()).join(', ') || 'unknown',
    verdict: isThere ? 'right' : others.length === 0 ? 'unknown' : 'wrong',
  }
}
