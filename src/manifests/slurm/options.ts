import { type Accepted, type OptionTable, optionTable } from './arguments.ts'

/** How a value of an option is checked and kept; `values.ts` has one reader for each. */
export type ValueKind =
  | 'text'
  | 'flag'
  | 'natural'
  | 'positive'
  | 'minutes'
  | 'moment'
  | 'delay'
  | 'memory'
  | 'nodes'
  | 'gres'
  | 'exclusive'
  | 'file'
  | 'environment'
  | 'mail'
  | 'distribution'
  | 'signal'
  | 'switches'
  | 'profile'
  | 'cpu-frequency'
  | 'memory-binding'
  | 'gpu-binding'
  | 'gpu-frequency'
  | 'geometry'
  | 'open-mode'
  | 'no-kill'
  | 'nice'
  | 'priority'
  | 'yes-no'
  | 'gres-flags'
  | 'wait-all'
  | 'sampling'
  | 'power'

/** One option of sbatch. */
export interface Option extends Accepted {
  readonly kind: ValueKind
  /** It holds for the later components of a heterogeneous job too, unless they set it again. */
  readonly carried: boolean
  /** Only the command line can set it; in a script it is accepted and does nothing. */
  readonly commandLineOnly: boolean
}

/**
 * Options of sbatch 22.05 as the program itself lists them (sbatch(1), checked name by name against 22.05.8), then those that
 * came up to 25.05 (release notes and sbatch(1) of 23.02 to 25.05).
 */
function rows(): readonly (readonly [string, string, ValueKind, string?])[] {
  return [
    ['account', 'A', 'text', 'carried'],
    ['acctg-freq', '', 'sampling', 'carried'],
    ['array', 'a', 'text', 'carried'],
    ['batch', '', 'text', 'carried'],
    ['bb', '', 'text'],
    ['bbf', '', 'text', 'carried'],
    ['begin', 'b', 'moment', 'carried'],
    ['chdir', 'D', 'text', 'carried'],
    ['cluster', '', 'text', 'carried'],
    ['cluster-constraint', '', 'text', 'carried'],
    ['clusters', 'M', 'text', 'carried'],
    ['comment', '', 'text', 'carried'],
    ['constraint', 'C', 'text'],
    ['container', '', 'text', 'carried'],
    ['context', '', 'text', 'carried'],
    ['contiguous', '', 'flag'],
    ['core-spec', 'S', 'natural'],
    ['cores-per-socket', '', 'positive'],
    ['cpu-freq', '', 'cpu-frequency'],
    ['cpus-per-gpu', '', 'positive'],
    ['cpus-per-task', 'c', 'positive'],
    ['deadline', '', 'moment', 'carried'],
    ['delay-boot', '', 'delay', 'carried'],
    ['dependency', 'd', 'text', 'carried'],
    ['distribution', 'm', 'distribution'],
    ['error', 'e', 'file', 'carried'],
    ['exclude', 'x', 'text', 'carried'],
    ['exclusive', '', 'exclusive', 'optional'],
    ['export', '', 'text', 'carried'],
    ['export-file', '', 'text', 'carried'],
    ['extra-node-info', 'B', 'geometry'],
    ['get-user-env', '', 'environment', 'optional carried'],
    ['gid', '', 'text', 'carried'],
    ['gpu-bind', '', 'gpu-binding'],
    ['gpu-freq', '', 'gpu-frequency'],
    ['gpus', 'G', 'text'],
    ['gpus-per-node', '', 'text'],
    ['gpus-per-socket', '', 'text'],
    ['gpus-per-task', '', 'text'],
    ['gres', '', 'gres'],
    ['gres-flags', '', 'gres-flags'],
    ['help', 'h', 'flag', 'carried command-line'],
    ['hint', '', 'text'],
    ['hold', 'H', 'flag', 'carried'],
    ['ignore-pbs', '', 'flag', 'carried'],
    ['input', 'i', 'file', 'carried'],
    ['job-name', 'J', 'text', 'carried'],
    ['kill-on-invalid-dep', '', 'yes-no', 'carried'],
    ['licenses', 'L', 'text'],
    ['mail-type', '', 'mail'],
    ['mail-user', '', 'text'],
    ['mcs-label', '', 'text', 'carried'],
    ['mem', '', 'memory', 'carried'],
    ['mem-bind', '', 'memory-binding'],
    ['mem-per-cpu', '', 'memory'],
    ['mem-per-gpu', '', 'memory'],
    ['mincpus', '', 'positive'],
    ['network', '', 'text'],
    ['nice', '', 'nice', 'optional carried'],
    ['no-kill', 'k', 'no-kill', 'optional carried'],
    ['no-requeue', '', 'flag', 'carried'],
    ['nodefile', 'F', 'text'],
    ['nodelist', 'w', 'text'],
    ['nodes', 'N', 'nodes'],
    ['ntasks', 'n', 'positive'],
    ['ntasks-per-core', '', 'positive'],
    ['ntasks-per-gpu', '', 'positive'],
    ['ntasks-per-node', '', 'positive'],
    ['ntasks-per-socket', '', 'positive'],
    ['ntasks-per-tres', '', 'positive'],
    ['open-mode', '', 'open-mode', 'carried'],
    ['output', 'o', 'file', 'carried'],
    ['overcommit', 'O', 'flag'],
    ['oversubscribe', 's', 'flag'],
    ['parsable', '', 'flag', 'carried'],
    ['partition', 'p', 'text'],
    ['power', '', 'power'],
    ['prefer', '', 'text', 'carried'],
    ['priority', '', 'priority', 'carried'],
    ['profile', '', 'profile', 'carried'],
    ['propagate', '', 'text', 'optional carried'],
    ['qos', 'q', 'text', 'carried'],
    ['quiet', 'Q', 'flag', 'carried command-line'],
    ['reboot', '', 'flag', 'carried'],
    ['requeue', '', 'flag', 'carried'],
    ['reservation', '', 'text', 'carried'],
    ['signal', '', 'signal', 'carried'],
    ['sockets-per-node', '', 'positive'],
    ['spread-job', '', 'flag'],
    ['switches', '', 'switches'],
    ['tasks-per-node', '', 'positive'],
    ['test-only', '', 'flag', 'carried'],
    ['thread-spec', '', 'positive'],
    ['threads-per-core', '', 'positive'],
    ['time', 't', 'minutes', 'carried'],
    ['time-min', '', 'minutes', 'carried'],
    ['tmp', '', 'memory'],
    ['uid', '', 'text', 'carried'],
    ['usage', '', 'flag', 'carried command-line'],
    ['use-min-nodes', '', 'flag'],
    ['verbose', 'v', 'flag', 'carried command-line'],
    ['version', 'V', 'flag', 'carried command-line'],
    ['wait', 'W', 'flag', 'carried'],
    ['wait-all-nodes', '', 'wait-all', 'carried'],
    ['wckey', '', 'text', 'carried'],
    ['wrap', '', 'text', 'carried command-line'],
    ['container-id', '', 'text', 'carried 23.02'],
    ['extra', '', 'text', 'carried 23.02'],
    ['tres-per-task', '', 'text', '23.02'],
    ['tres-bind', '', 'text', '23.02'],
    ['oom-kill-step', '', 'text', 'optional 24.05'],
    ['resv-ports', '', 'text', 'optional 24.05'],
    ['segment', '', 'positive', '24.05'],
    ['stepmgr', '', 'flag', 'carried 24.05'],
    ...pyxisOptions(),
    // Shifter's plugin (github.com/NERSC/shifter, slurm module)
    ...['image', 'volume', 'module'].map(name => [name, '', 'text', 'plugin'] as const),
  ]
}

/** Options of pyxis, the container plugin that most GPU clusters load (github.com/NVIDIA/pyxis, README). */
function pyxisOptions(): readonly (readonly [string, string, ValueKind, string])[] {
  const withValue = ['image', 'mounts', 'workdir', 'name', 'save', 'env']
  const flags = ['mount-home', 'remap-root', 'entrypoint', 'entrypoint-log', 'writable', 'readonly']
  return [
    ...withValue.map(name => [`container-${name}`, '', 'text', 'plugin'] as const),
    ...flags.flatMap(name =>
      [`container-${name}`, `no-container-${name}`].map(each => [each, '', 'flag', 'plugin'] as const),
    ),
  ]
}

function makeOption([name, short, kind, marks = '']: ReturnType<typeof rows>[number]): Option {
  const argument = kind === 'flag' ? 'none' : marks.startsWith('optional') ? 'optional' : 'required'
  const isLater = /(?:\d\d\.\d\d|plugin)$/.test(marks)
  return {
    name,
    short: short === '' ? undefined : short,
    kind,
    argument,
    carried: marks.includes('carried'),
    commandLineOnly: marks.includes('command-line'),
    abbreviable: !isLater,
  }
}

let known: OptionTable<Option> | undefined

/** Every option of sbatch; the table is made when it is first asked for. */
export function sbatchOptions(): OptionTable<Option> {
  known ??= optionTable(rows().map(makeOption))
  return known
}
