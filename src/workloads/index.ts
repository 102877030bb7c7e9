import { pathInFolder } from '../bash/folders.ts'
import { type CommandLine, findCommandLines } from '../command-lines.ts'
import type { DatasetTable } from '../dataset.ts'
import { describePlace } from '../errors.ts'
import type { Job, Role } from '../job.ts'
import { baseName } from '../launchers.ts'
import type { ModelTable } from '../model.ts'
import { once } from '../once.ts'
import { findSession } from '../sessions.ts'
import type { Warning } from '../warning.ts'
import { words } from '../word-list.ts'
import type { Workload } from '../workload.ts'
import { axolotl } from './axolotl.ts'
import { findWritten, missingFile, referredPath } from './config-files.ts'
import { cpuWork, explainCpuWork } from './cpu-work.ts'
import { applyDeclarations, deriveValues, resolveModel } from './derived.ts'
import { evaluation } from './evaluation.ts'
import { besides } from './flags.ts'
import { gptNeox } from './gpt-neox.ts'
import { huggingface } from './huggingface.ts'
import { knownScripts } from './known-scripts.ts'
import { levanter } from './levanter.ts'
import { litgpt } from './litgpt.ts'
import { llamaFactory } from './llama-factory.ts'
import { llmC } from './llm-c.ts'
import { llmFoundry } from './llm-foundry.ts'
import { maxtext } from './maxtext.ts'
import { megatron } from './megatron.ts'
import { megatronBridge } from './megatron-bridge.ts'
import { msSwift } from './ms-swift.ts'
import { asSweep } from './multirun.ts'
import { nanogpt } from './nanogpt.ts'
import { nanotron } from './nanotron.ts'
import { nemo } from './nemo.ts'
import { nnunet } from './nnunet.ts'
import { olmo } from './olmo.ts'
import { openmmlab } from './openmmlab.ts'
import { openrlhf } from './openrlhf.ts'
import { withoutPlaces } from './places.ts'
import {
  compareWithRequest,
  countingLaunch,
  countProcesses,
  hiddenGpus,
  launchOption,
  type Peers,
  peersOf,
} from './processes.ts'
import { explainPublicData, withPublicData } from './public-data.ts'
import { pytorch } from './pytorch.ts'
import { scientific } from './scientific.ts'
import { asServed, servedAlone } from './served.ts'
import { serving } from './serving.ts'
import { speech } from './speech.ts'
import { tensorflow } from './tensorflow.ts'
import { torchtitan } from './torchtitan.ts'
import { torchtune } from './torchtune.ts'
import { verl } from './verl.ts'
import type { FilesAtHand, ReferredFiles, RunContext, WorkloadReader, WorkloadReading } from './workload-reader.ts'

/** In order of preference: who knows its own flags best comes first. */
const readers: readonly WorkloadReader[] = [
  gptNeox,
  torchtitan,
  nemo,
  olmo,
  nanotron,
  llmFoundry,
  maxtext,
  levanter,
  llmC,
  speech,
  megatronBridge,
  megatron,
  axolotl,
  llamaFactory,
  torchtune,
  litgpt,
  msSwift,
  openrlhf,
  verl,
  serving,
  evaluation,
  knownScripts,
  huggingface,
  openmmlab,
  nanogpt,
  nnunet,
  scientific,
  cpuWork,
  tensorflow,
  pytorch,
]

/** A command line with the role whose GPUs it uses. */
interface Run {
  readonly commandLine: CommandLine
  readonly role: Role
}

/** A run and what was read of it. */
interface ReadRun extends Run {
  readonly reading: WorkloadReading
  readonly peers: Peers
}

/** Paths of files that the job's command lines refer to, as written there; with more files read, there may be more. */
export function findReferredPaths(job: Job, files: ReferredFiles): readonly string[] {
  const runs = runsOf(job, files)
  const scripts = job.roles.flatMap(role => role.commandLines).flatMap(line => shellScriptOf(line) ?? [])
  const wanted = runs.flatMap(({ commandLine }) =>
    pathsFor(commandLine, files).map(path => pathInFolder(commandLine.folder, path)),
  )
  return [...new Set([...(job.sources ?? []), ...scripts, ...wanted])]
}

/** What the readers want to see for a command line, as written there. */
function pathsFor(commandLine: CommandLine, files: ReferredFiles): readonly string[] {
  const own = filesIn(commandLine.folder, files)
  return readers.flatMap(reader => reader.refersTo(commandLine, own))
}

/** The files as a command line names them that runs in a folder of its own. */
function filesIn(folder: string | undefined, files: ReferredFiles): FilesAtHand {
  if (folder === undefined) return files
  return {
    get: path => files.get(pathInFolder(folder, path)),
    has: path => files.has(pathInFolder(folder, path)),
  }
}

/** The runs a job makes: what is computed, with every value's origin. What cannot be known is absent. */
export function readWorkloads(
  job: Job,
  files: ReferredFiles,
  models: ModelTable,
  datasets: DatasetTable,
): { workloads: readonly Workload[]; warnings: readonly Warning[] } {
  const runs = runsOf(job, files)
  const linesOf = once((role: Role) => workingLines(runs, role))
  const rolesOf = rolesByCommand(runs)
  const read = runs.flatMap(run => readRun(run, rolesOf, { job, files, models }) ?? [])
  const completed = read.map(({ reading, role, commandLine }) => {
    const beside = commandLine.background ? { background: true as const } : {}
    const workload: Workload = { ...withoutPlaces(reading.workload), role: role.name, ...beside }
    const declared = workload.purpose === 'train' ? applyDeclarations(workload, job.declarations) : workload
    const isPart = reading.notDerived?.includes('model') === true && job.declarations.model === undefined
    const resolved = resolveModel(declared, job.declarations, isPart ? noModels : models)
    return deriveValues(withPublicData(resolved, reading, commandLine, datasets), reading.notDerived ?? [])
  })
  const merged = mergeSame(completed, read).map(workload => asServed(workload, job, models))
  const understood = read.filter(({ reading }) => !isOnlyNamed(reading.workload))
  // Steps besides a simulation are none of its runs.
  const learns = merged.some(({ purpose }) => purpose !== 'other')
  const told = merged.filter(workload => learns || !isOnlyNamed(workload))
  const found = [...told, ...servedAlone(job, told, models)]
  const workloads = found.length > 0 ? found : declaredAlone(job, models)
  const warnings = [
    ...explainMissingFiles(runs, read, files),
    ...read.flatMap(({ reading }) => reading.warnings),
    ...read.flatMap(run => explainLaunch(run, linesOf(run.role))),
    ...explainDevices(job, runs),
    ...workloads.flatMap(explainPublicData),
    ...explainRuns(workloads),
    ...explainCpuWork(
      job,
      { all: runs.map(commandOf), read: understood.map(commandOf), isErrand: isPlainErrand },
      workloads,
    ),
    ...explainIgnorance(job, runs, understood, workloads),
  ]
  return { workloads, warnings: withoutRepeats(warnings) }
}

/** For a name that says which network a model is built on, not how large it is. */
const noModels: ModelTable = { find: () => undefined }

function commandOf({ commandLine }: Run): CommandLine {
  return commandLine
}

/** Every command line with the role it works in, shell scripts that were read followed into. */
function runsOf(job: Job, files: ReferredFiles): Run[] {
  const runs = job.roles.flatMap(role =>
    role.commandLines
      .flatMap(line => followScript(line, files, 0))
      .map(asSweep)
      .map(commandLine => ({ commandLine, role: workingRole(commandLine, role, job) })),
  )
  return [...runs, ...joiningRuns(runs, job)]
}

/**
 * A run that is told as many machines as all roles have together takes in those that start nothing themselves: the
 * workers of a PyTorchJob, whose command stands at its master.
 */
function joiningRuns(runs: readonly Run[], job: Job): Run[] {
  const silent = job.roles.filter(role => role.gpuCount.value > 0 && runs.every(run => run.role !== role))
  const machines = peersOf(job.roles.filter(role => role.gpuCount.value > 0)).machines
  return runs
    .filter(({ commandLine }) => countingLaunch(commandLine)?.nodes === machines)
    .flatMap(({ commandLine }) => silent.map(role => ({ commandLine, role })))
}

/**
 * The role whose GPUs a command uses: the component that `srun --het-group` names; for a launcher without GPUs the one
 * that has them and starts nothing itself (MPIJob).
 */
function workingRole(commandLine: CommandLine, role: Role, job: Job): Role {
  const group = commandLine.launches.flatMap(launch => launchOption(launch, ['het-group']) ?? [])[0]
  const component = group !== undefined && /^\d+$/.test(group) ? job.roles[Number(group)] : undefined
  if (component !== undefined) return component
  if (role.gpuCount.value > 0) return role
  return job.roles.find(other => other.gpuCount.value > 0 && other.commandLines.length === 0) ?? role
}

/** Shell scripts within shell scripts that are followed. */
const DEEPEST_SCRIPT = 4

function shellScriptOf(line: CommandLine): string | undefined {
  if (!/\.(sh|bash|sbatch|slurm)$/.test(line.program)) return undefined
  const path = referredPath({
    text: line.program.includes('$') ? undefined : line.program,
    written: line.program,
    place: line.place,
  })
  return path && pathInFolder(line.folder, path)
}

/** A script that the job wrote itself, whatever it is called. */
function writtenScript(line: CommandLine): string | undefined {
  return /^#! *\S*(\/|env +)(ba|da|z|k)?sh\b/.test(findWritten(line, line.program) ?? '') ? line.program : undefined
}

/** Lines of a script beside the manifest that is followed, each time it is called: one of more is generated, and trains nothing itself. */
const mostLines = 5_000

function followScript(line: CommandLine, files: ReferredFiles, depth: number): CommandLine[] {
  const path = shellScriptOf(line) ?? writtenScript(line)
  const file = path === undefined ? undefined : files.get(path)
  const text = findWritten(line, line.program) ?? (file !== undefined && 'text' in file ? file.text : undefined)
  if (path === undefined || text === undefined || depth > DEEPEST_SCRIPT) return [line]
  if (text.split('\n', mostLines + 1).length > mostLines) return [line]
  const { commandLines } = findCommandLines(text, {
    file: path,
    firstLine: 1,
    variables: line.environment,
    arguments: line.arguments.flatMap(word => word.text ?? []),
    ...(line.folder !== undefined && { folder: line.folder }),
  })
  return commandLines
    .map(inner => ({
      ...inner,
      launches: [...line.launches, ...inner.launches],
      conditional: line.conditional || inner.conditional,
      ...((inner.arm ?? line.arm) ? { arm: inner.arm ?? line.arm } : {}),
      repetitions: line.repetitions * inner.repetitions,
      background: line.background || inner.background,
    }))
    .flatMap(inner => followScript(inner, files, depth + 1))
}

function readRun(
  run: Run,
  rolesOf: RolesOf,
  { job, files, models }: Pick<RunContext, 'job' | 'models'> & { readonly files: ReferredFiles },
): ReadRun | undefined {
  const { commandLine, role } = run
  const peers = peersOf(rolesOf(run))
  const processes = countProcesses(commandLine, peers)
  const own = filesIn(commandLine.folder, files)
  for (const reader of readers) {
    const reading = reader.read(commandLine, { job, role, peers, processes, files: own, models })
    if (reading !== undefined) return { ...run, reading, peers }
  }
  return undefined
}

/** Roles that start the same program with the same arguments: one distributed run over all of them. */
type RolesOf = (run: Run) => readonly Role[]

function rolesByCommand(runs: readonly Run[]): RolesOf {
  const roles = new Map<string, Set<Role>>()
  for (const { commandLine, role } of runs) {
    const command = describeCommand(commandLine)
    roles.set(command, (roles.get(command) ?? new Set()).add(role))
  }
  return ({ commandLine, role }) => [...new Set([role, ...(roles.get(describeCommand(commandLine)) ?? [])])]
}

function describeCommand({ program, arguments: words }: CommandLine): string {
  return JSON.stringify([program, ...words.map(word => word.written)])
}

/** What is computed, whoever computes it and wherever it is kept. */
function describeValues(workload: Workload): string {
  const { place, conditional, repetitions, checkpoint, ...values } = workload
  return JSON.stringify(values, (key, value) => (key === 'origin' ? undefined : value))
}

/**
 * Runs that compute the same: those of a loop become one with repetitions; those on several ways through the script, of
 * which one is taken (start anew or resume), become one that is sure to run.
 */
function mergeSame(workloads: readonly Workload[], runs: readonly ReadRun[]): Workload[] {
  const merged = new Map<string, Workload>()
  workloads.forEach((workload, index) => {
    const run = runs[index]
    const arm = run?.commandLine.arm
    const where = arm === undefined ? describePlace(workload.place) : `branch ${arm.branch}`
    const key = `${where} ${describeValues(workload)}`
    const before = merged.get(key)
    const isOtherArm =
      before !== undefined && arm !== undefined && describePlace(before.place) !== describePlace(workload.place)
    if (before === undefined) merged.set(key, workload)
    else if (isOtherArm) merged.set(key, { ...before, conditional: false })
    else merged.set(key, { ...before, repetitions: before.repetitions + workload.repetitions })
  })
  return [...merged.values()]
}

/** A run of which only the declarations speak, on all GPUs of the job. */
function declaredAlone(job: Job, models: ModelTable): Workload[] {
  const { model, params, tokens, samples, epochs, steps } = job.declarations
  const declared = model ?? params ?? tokens ?? samples ?? epochs ?? steps
  if (declared === undefined) return []
  const place = declared.origin.kind === 'annotation' ? declared.origin.place : job.place
  const roles = job.roles.filter(role => role.gpuCount.value > 0)
  return roles.map(role => {
    const bare: Workload = { purpose: 'train', place, role: role.name, repetitions: 1, conditional: false }
    return deriveValues(resolveModel(applyDeclarations(bare, job.declarations), job.declarations, models), [])
  })
}

/** `lines` are those of its role that do more than errands. */
function explainLaunch({ commandLine, reading, peers }: ReadRun, lines: readonly CommandLine[]): Warning[] {
  const beside = lines.some(line => line !== commandLine && (line.background || commandLine.background))
  return compareWithRequest(commandLine, reading.workload.processes?.value, peers, beside)
}

/** GPUs of a role that none of its programs can see. */
function explainDevices(job: Job, runs: readonly Run[]): Warning[] {
  return job.roles.flatMap(role => hiddenGpus(workingLines(runs, role), peersOf([role])))
}

/** What a role runs besides errands. */
function workingLines(runs: readonly Run[], role: Role): readonly CommandLine[] {
  return runs.filter(run => run.role === role && !isErrand(run.commandLine)).map(run => run.commandLine)
}

/** What several runs are called, by what they do; of a job that trains, only training counts. */
const RUNS = [
  ['train', 'training runs'],
  ['evaluate', 'evaluation runs'],
  ['infer', 'inference runs'],
] as const

function explainRuns(workloads: readonly Workload[]): Warning[] {
  const [purpose, called] = RUNS.find(([each]) => workloads.some(workload => workload.purpose === each)) ?? []
  const same = workloads.filter(workload => workload.purpose === purpose)
  const own = same.filter(workload => workload.role === same[0]?.role)
  const runs = own.reduce((sum, workload) => sum + workload.repetitions, 0)
  const first = own[0]
  if (runs < 2 || first === undefined) return []
  const places = own.map(
    ({ place, repetitions }) => `${besides(place, first.place)}${repetitions > 1 ? ` (${repetitions} times)` : ''}`,
  )
  return [{ code: 'multiple-runs', text: `this job makes ${runs} ${called}: ${places.join(', ')}`, place: first.place }]
}

/** Files that may say more of a run than was read of it, and why they were not read. */
function explainMissingFiles(runs: readonly Run[], read: readonly ReadRun[], files: ReferredFiles): Warning[] {
  const readings = new Map(read.toReversed().map(each => [each.commandLine, each.reading]))
  return runs.flatMap(({ commandLine }) => {
    const reading = readings.get(commandLine)
    if (reading !== undefined && (reading.workload.purpose !== 'train' || saysLength(reading.workload))) return []
    // The program itself is looked into for its defaults, where it is there.
    const paths = pathsFor(commandLine, files).filter(path => path !== commandLine.program)
    const own = filesIn(commandLine.folder, files)
    return paths.flatMap(path => {
      const file = own.get(path) ?? { notRead: 'not found' }
      const isThere = 'text' in file || findWritten(commandLine, path) !== undefined
      return isThere ? [] : [missingFile(path, file.notRead, commandLine.place)]
    })
  })
}

function saysLength({ steps, epochs, samples, tokens }: Workload): boolean {
  return (steps ?? epochs ?? samples ?? tokens) !== undefined
}

/** Where nothing was understood: which program it is that cannot be read. */
function explainIgnorance(
  job: Job,
  runs: readonly Run[],
  read: readonly ReadRun[],
  workloads: readonly Workload[],
): Warning[] {
  const hasGpus = job.roles.some(role => role.gpuCount.value > 0)
  const isUnderstood = workloads.some(workload => workload.device !== 'cpu' && !isOnlyNamed(workload))
  const isAwaited = job.endless || findSession(job) !== undefined
  if (!hasGpus || isAwaited || isUnderstood || job.declarations.runtime !== undefined) return []
  const understood = read.map(commandOf)
  const working = runs.map(commandOf).filter(line => !understood.includes(line) && !isErrand(line))
  if (understood.length > 0 && working.length === 0) return []
  const unread = working.find(({ launches }) => launches.length > 0) ?? working.at(-1)
  if (unread === undefined) {
    const text = 'gpufare sees no program here that computes something'
    return [{ code: 'no-training-facts', text, place: job.place }]
  }
  const text = `gpufare cannot read what \`${abbreviate(unread)}\` computes`
  return [{ code: 'no-training-facts', text, place: unread.place }]
}

/** A step of which nothing but its program's name says that it is no training. */
function isOnlyNamed({ purpose, framework, device }: Workload): boolean {
  return purpose === 'other' && framework === undefined && device === undefined
}

function isErrand({ program }: CommandLine): boolean {
  return errands.has(baseName(program))
}

/** A line of Python may be all that a job is there for. */
function isPlainErrand(commandLine: CommandLine): boolean {
  return commandLine.program !== '-c' && isErrand(commandLine)
}

/** Programs that prepare, copy and look, whatever they are told. */
const errands = new Set(
  words(`
    -c apptainer aws cat chmod chown cmake conda cp curl date dcgmi df du echo ensurepip env find free g++ gcc gfortran
    git grep gsutil gzip head hipcc hostname huggingface-cli ln ls lscpu make mamba mkdir module mpicc mpicxx mpif90 mv
    ninja nproc nvcc nvidia-smi pip pip3 printenv printf rclone rm rocm-smi rsync sacct sbatch scontrol scp sed seq
    setup.py sleep squeue ssh tail tar tee tensorboard touch tree unzip uname uv venv virtualenv wait wandb wget which
    whoami zip
  `),
)

/** Longer command lines are cut. */
const commandLength = 60

function abbreviate({ program, arguments: given }: CommandLine): string {
  const text = [program, ...given.map(word => word.written)].join(' ').replace(/\s+/g, ' ')
  return text.length > commandLength ? `${text.slice(0, commandLength - 1)}…` : text
}

function withoutRepeats(warnings: readonly Warning[]): Warning[] {
  const seen = new Map(warnings.map(warning => [`${warning.code} ${warning.text}`, warning]))
  return [...seen.values()]
}
