import type { CommandLine } from '../../command-lines.ts'
import type { DeclarationEntry } from '../../declarations.ts'
import type { Place } from '../../errors.ts'
import { findGpuHint } from '../../gpu-hints.ts'
import type { DeviceShare, Role } from '../../job.ts'
import { baseName } from '../../launchers.ts'
import type { Manifest } from '../../manifest.ts'
import { formatDuration, parseDuration, secondsPerMinute } from '../../units.ts'
import type { Warning } from '../../warning.ts'
import { eachLine } from './directives.ts'
import type { Shape } from './gpu-count.ts'
import { sharedName } from './gpu-type.ts'
import { readMinutes } from './quantities.ts'
import type { SbatchReading } from './read-sbatch.ts'
import { gresOf, type Setting, type Settings } from './settings.ts'

/** Two options that do not say the same; the one that Slurm goes by comes first. */
export function warnOfConflicts(settings: Settings): readonly Warning[] {
  const gres = settings.get('gres')
  const perNode = settings.get('gpus-per-node')
  if (gres === undefined || perNode === undefined) return []
  const [first, second] = [gresOf(settings, 'gres'), gresOf(settings, 'gpus-per-node')].map(list =>
    (list ?? []).map(item => `${item.type ?? ''}:${item.count}`).join(),
  )
  if (first === second || first === '') return []
  const text = `${gres.written} and ${perNode.written} say different things: Slurm 22.05 goes by --gres, newer ones refuse both together`
  return [{ code: 'conflict', text, place: perNode.place }]
}

/** A mark that editors of Windows put before the first line, where sbatch looks for `#!`. */
export function warnOfByteOrderMark({ bytes, name }: Manifest): readonly Warning[] {
  const [first, second, third] = bytes
  if (first !== 0xef || second !== 0xbb || third !== 0xbf) return []
  const text = `sbatch will refuse this file: a byte order mark stands before #!; take it away with sed -i '1s/^\\xEF\\xBB\\xBF//' ${name}`
  return [{ code: 'scheduler-will-refuse', text, place: { file: name, line: 1, column: 1 } }]
}

/** `#GPUFARE` lines with one key, of which the last counts; exemptions all count. */
export function warnOfRepeatedKeys(entries: readonly DeclarationEntry[]): readonly Warning[] {
  return entries.flatMap((entry, index) => {
    const before = entries.slice(0, index).findLast(each => each.key === entry.key && each.key !== 'exempt')
    if (before === undefined || before.value === entry.value) return []
    const text = `#GPUFARE ${entry.key}=${entry.value} stands after ${entry.key}=${before.value} (line ${before.place.line}) and replaces it`
    return [{ code: 'last-flag-wins', text, place: entry.place }]
  })
}

/** What holds for the script as a whole. */
export function warnOfJob(script: string, file: string, reading: SbatchReading): readonly Warning[] {
  const [settings] = reading.components
  const isSilent = reading.directives.length === 0 && (settings === undefined || settings.size === 0)
  return [...(isSilent ? [noDirectives(file)] : []), ...warnOfRetries(script, file, settings)]
}

function noDirectives(file: string): Warning {
  const text =
    'no #SBATCH line: nothing says what machine this would get; ask for one in a directive (#SBATCH --gres=gpu:1 --time=4:00:00) or with options after --'
  return { code: 'no-directives', text, place: { file, line: 1 } }
}

/** `sbatch` where a command may begin. */
const submitting = /^(?:[^#"']*(?:[;&|(`]|\b(?:do|then|else)\s))?\s*(?:\w+=["']?(?:\$\(|`))?sbatch\s+\S/

/** Workflow managers and training programs that hand their work to Slurm. */
function submitsByItself({ program, arguments: words }: CommandLine): boolean {
  const name = baseName(program)
  const given = words.map(word => word.written).join(' ')
  if (name === 'snakemake') return /--executor[ =](slurm|cluster-generic)|--slurm\b|--cluster[ =]|--drmaa\b/.test(given)
  if (name === 'nextflow')
    return /^run\b/.test(given) && /-profile[ =]\S*slurm|-process\.executor[ =]'?slurm/.test(given)
  return /^(submitit_\w+|run_with_submitit\w*)\.py$/.test(name) || /(^| )hydra\/launcher=submitit_slurm\b/.test(given)
}

/** A script that submits scripts: its own request says nothing about theirs. */
export function warnOfChildJobs(
  script: string,
  file: string,
  reading: SbatchReading,
  commandLines: readonly CommandLine[],
): readonly Warning[] {
  const manager = commandLines.find(submitsByItself)
  if (manager !== undefined) {
    const text = `${baseName(manager.program)} submits jobs of its own, whose cost is not in this quote`
    return [{ code: 'child-jobs', text, place: manager.place }]
  }
  if (!script.includes('sbatch')) return []
  const submissions = commandLines.filter(line => baseName(line.program) === 'sbatch')
  const [first] = submissions
  if (first !== undefined) {
    const count = submissions.reduce((sum, line) => sum + line.repetitions, 0)
    const jobs = count === 1 ? 'another job' : `${count} other jobs`
    return [
      { code: 'child-jobs', text: `the script submits ${jobs}, whose cost is not in this quote`, place: first.place },
    ]
  }
  let outside = false
  for (const line of eachLine(script)) {
    outside = asksWhetherInJob.test(line.text) || (outside && !/^\s*(fi|else)\b/.test(line.text))
    if (outside || line.start < reading.headEnd || !submitting.test(line.text)) continue
    const place: Place = { file, line: line.number, column: line.text.indexOf('sbatch') + 1 }
    return [
      { code: 'child-jobs', text: 'the script submits further jobs; what they cost is not in these figures', place },
    ]
  }
  return []
}

/** `if [ -z "$SLURM_JOB_ID" ]`: what follows is done by whoever starts the script by hand. */
const asksWhetherInJob = /^\s*if\b.*-z\s+["']?\$\{?SLURM_JOB_?ID\b/

/** `sbatch --dependency=afterany:$SLURM_JOB_ID "$0"`, or the script's own name in its place. */
function submitsItself(line: string, file: string): boolean {
  if (!line.includes('sbatch')) return false
  const [, submitted] = /^(?:[^#]*[\s;&|(`])?sbatch\s+(?:-\S+\s+)*["']?([^\s"']+)/.exec(line) ?? []
  if (submitted === undefined) return false
  return /^\$(?:0$|\{?BASH_SOURCE)/.test(submitted) || submitted.split('/').at(-1) === file.split('/').at(-1)
}

function warnOfRetries(script: string, file: string, settings: Settings | undefined): readonly Warning[] {
  if (/scontrol\s+requeue|sbatch\s/.test(script)) {
    let outside = false
    for (const line of eachLine(script)) {
      outside = asksWhetherInJob.test(line.text) || (outside && !/^\s*(fi|else)\b/.test(line.text))
      if (outside) continue
      if (!/^[^#]*scontrol\s+requeue/.test(line.text) && !submitsItself(line.text, file)) continue
      const text =
        'the script puts itself into the queue again: each run costs this much, and nothing bounds their number'
      return [{ code: 'retries-multiply-cost', text, place: { file, line: line.number } }]
    }
  }
  const requeue = settings?.get('requeue')
  if (requeue?.text !== 'requeue') return []
  const text = `${requeue.written}: after a failure of the node or a preemption the job runs, and is paid, again`
  return [{ code: 'retries-multiply-cost', text, place: requeue.place }]
}

/** The most data-center GPUs that a server of NVIDIA's (DGX, HGX) and AMD's (MI300X platform) recent generations holds. */
const GPUS_OF_A_SERVER = 8

/** What a component's request leaves open, and where it is not what it looks like. */
export function warnOfComponent(
  asked: Role,
  role: Role,
  settings: Settings,
  shape: Shape,
  reading: SbatchReading,
): readonly Warning[] {
  const about = reading.components.length > 1 ? `${role.name}: ` : ''
  const warn = (code: Warning['code'], text: string, setting?: Setting): Warning =>
    setting === undefined ? { code, text: about + text } : { code, text: about + text, place: setting.place }
  const warnings: Warning[] = [...warnOfTime(settings, reading, warn)]
  const exclusive = settings.get('exclusive')
  const takesAll = role.gpuType.names.length > 0 && asked.gpusPerReplica.value >= GPUS_OF_A_SERVER
  if (role.exclusive && !takesAll) {
    const text = 'whole nodes are taken and billed, with every GPU and CPU on them, whatever else is asked for'
    warnings.push(warn('exclusive-whole-node', `--exclusive: ${text}`, exclusive))
  }
  if (role.gpuCount.value > 0 && asked.gpuCount.value === 0) {
    const text = `no option asks for GPUs; ${role.gpusPerReplica.value} a node is what the launcher starts`
    warnings.push(warn('gpu-count-inferred', text))
  } else if (role.gpuCount.value === 0 && role.exclusive && !shape.asksForGpus) {
    warnings.push(warn('gpu-count-unknown', 'how many GPUs the whole nodes have is not known'))
  } else if (role.gpuCount.value === 0 && !shape.asksForGpus) {
    const named = namesGpus(settings)
    const text = `${named?.written} names GPUs and nothing asks for any: how many the job gets, 0 or all of a node, is the site's to say`
    if (named !== undefined) warnings.push(warn('gpu-count-unknown', text, named))
  }
  if (role.gpuCount.value > 0) warnings.push(...warnOfType(role, settings, warn))
  if (role.deviceShare !== undefined) {
    warnings.push(warn('fractional-gpu', describeShare(role.deviceShare), settings.get('gres') ?? settings.get('gpus')))
  }
  if (role.tasks > 1) {
    const text = `${role.tasks} array tasks, ${role.concurrentTasks} at one time: GPUs and time limit are those of each`
    warnings.push(warn('multiple-runs', text, settings.get('array')))
  }
  if (shape.range !== undefined) {
    const { smallest, largest } = shape.range
    const text = `from ${smallest} to ${largest} nodes: Slurm gives as many as are free, so figures are for ${largest}`
    warnings.push(warn('autoscaling-range', text, settings.get('nodes')))
  }
  return warnings
}

/** A partition or constraint that speaks of GPUs, where many sites hand out whole nodes without any further word. */
function namesGpus(settings: Settings): Setting | undefined {
  const spoken = ['constraint', 'partition'].flatMap(name => settings.get(name) ?? [])
  return spoken.find(({ value = '' }) => /(^|[^a-z])!?gpus?([^a-z]|$)/i.test(value) || findGpuHint(value) !== undefined)
}

function describeShare({ profile, share = 0 }: DeviceShare): string {
  if (profile === undefined) {
    return 'a part of a GPU is asked for, which other jobs use at the same time; how large it is only the site knows: it is counted and priced as a whole GPU'
  }
  const percent = (share * 100).toFixed(0)
  return `a slice ${profile} of a GPU is asked for: ${percent} % of its compute; GPU counts are counts of slices`
}

type Warn = (code: Warning['code'], text: string, setting?: Setting) => Warning

function warnOfType(role: Role, settings: Settings, warn: Warn): readonly Warning[] {
  const { names, basis } = role.gpuType
  const said = names.map(name => name.value)
  const [name] = said
  if (name === undefined) {
    const word = sharedName(settings)
    const why = word === undefined ? 'no GPU type is named' : `${word} is what several GPU types are called`
    return [warn('gpu-type-unknown', `${why}: the prices below are for types it might get`)]
  }
  const isGuess = basis === 'partition-hint' || basis === 'account-hint' || basis === 'comment'
  const warnings: Warning[] = []
  if (isGuess) {
    const where = { 'partition-hint': 'a partition or node', 'account-hint': 'an account or QOS', comment: 'a remark' }[
      basis
    ]
    warnings.push(warn('gpu-type-hint-only', `${said.join(', ')} is guessed from the name of ${where}`))
  }
  if (said.length > 1) {
    const together = basis === 'directive' || /\*\d/.test(settings.get('constraint')?.value ?? '')
    const text = together
      ? `several GPU types at once: ${said.join(' and ')}`
      : `any of several GPU types will do: ${said.join(', ')}`
    warnings.push(warn('gpu-type-ambiguous', text, settings.get('constraint')))
  }
  return warnings
}

function warnOfTime(settings: Settings, reading: SbatchReading, warn: Warn): readonly Warning[] {
  const time = settings.get('time')
  const minutes = readMinutes(time?.value ?? '')
  if (time === undefined || minutes === undefined) {
    return [warn('no-time-limit', "no --time: the limit is the partition's, and nothing here bounds the cost")]
  }
  if (!Number.isFinite(minutes))
    return [warn('no-time-limit', `${time.written} means no limit: nothing bounds the cost`, time)]
  const remark = reading.directives.find(directive => directive.line === time.place.line)?.comment
  const meant = remark === undefined ? undefined : readRemark(remark)
  const is = formatDuration(minutes * secondsPerMinute)
  if (meant !== undefined && Math.abs(meant - minutes) > Math.max(1, minutes * 0.1)) {
    const text = `${time.written} is ${is}, not the ${formatDuration(meant * secondsPerMinute)} of its remark`
    return [warn('time-format-trap', text, time)]
  }
  const looksLikeHours = /^\d+:\d+$/.test(time.value ?? '')
  if (looksLikeHours && meant === undefined) {
    return [warn('time-format-trap', `${time.written} is minutes and seconds: ${is}`, time)]
  }
  return minutes > 100 * 365 * 24 * 60 ? [warn('time-format-trap', `${time.written} is ${is} for Slurm`, time)] : []
}

const numberWords = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

/** Minutes of a remark that is nothing but a length of time: `# two days`, `# 5 h`, `# ~12 hours max`. */
function readRemark(remark: string): number | undefined {
  const words = remark
    .toLowerCase()
    .replace(/\b[a-z]+\b/g, word => (numberWords.includes(word) ? String(numberWords.indexOf(word)) : word))
    .replace(/\b(about|max(imum)?|limit|wall ?time|in total|total|a(?= day| week)|an(?= hour))\b|[~#():.,;!-]/g, ' ')
    .replace(/\bday\b/, 'days')
    .trim()
  const text = /^(days|week|hour)/.test(words) ? `1 ${words}` : words
  const weeks = /^(\d+) weeks?$/.exec(text)?.[1]
  const seconds = weeks === undefined ? parseDuration(text) : Number(weeks) * 7 * 86_400
  return seconds === undefined ? undefined : seconds / secondsPerMinute
}
