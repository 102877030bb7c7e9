import type { Field } from './bash/scope.ts'
import { isKnown, isUnknown, showText } from './bash/text.ts'
import type { Place } from './errors.ts'
import { withoutAbsent } from './sourced.ts'
import { words } from './word-list.ts'

/** One word of a command: its text as far as it can be known without running anything. */
export interface CommandWord {
  /** Expanded text; undefined where it hangs on something only known when the job runs. */
  readonly text: string | undefined
  /** The word with its known parts expanded and its unknown parts as written, `--seed=$SEED`. */
  readonly written: string
  readonly place: Place
}

/** How a launcher multiplies the program it starts. */
export interface Launch {
  /** `torchrun`, `srun`, `accelerate`, `deepspeed`, `mpirun`, `python`. */
  readonly launcher: string
  readonly nodes?: number
  readonly processesPerNode?: number
  readonly processes?: number
  /** The launcher's own options, for readers that need more (`--mixed_precision` of accelerate). */
  readonly options: readonly CommandWord[]
}

/** What stands behind the launchers and containers: a program, a script for a shell, or a shell that reads its input. */
export interface Peeled {
  readonly kind: 'program' | 'script' | 'input'
  /** Program or script, then its arguments; empty for a container that runs what its image says. */
  readonly words: readonly Field[]
  readonly launches: readonly Launch[]
  /** Variables set on the way (`env A=b`, `docker run -e A=b`). */
  readonly environment: Readonly<Record<string, string>>
}

/** A program that starts another one: which of its own words come before that other one, and how often it starts it. */
interface Launcher {
  readonly names: readonly string[]
  /** Words that have to follow, `launch` of accelerate; any one of them. */
  readonly subcommands?: readonly string[]
  /** A word that has to follow the subcommand, `submit` of `ray job submit`. */
  readonly ownCommand?: string
  /** Options that take the next word for their value … */
  readonly valued?: readonly string[]
  /** … or, where most do, those that do not. */
  readonly switches?: readonly string[]
  /** Options that take two. */
  readonly valuedTwice?: readonly string[]
  /** Words of its own after the options: an image, a duration. */
  readonly ownWords?: number
  readonly environmentOptions?: readonly string[]
  /** It is no wrapper: options by which it says how many processes it starts, and what counts without them. */
  readonly nodes?: readonly string[]
  readonly processesPerNode?: readonly string[]
  readonly processes?: readonly string[]
  readonly otherwise?: { readonly nodes?: number; readonly processesPerNode?: number }
  /** Variables that say what its absent options would. */
  readonly inherits?: { readonly nodes?: string; readonly processesPerNode?: string; readonly processes?: string }
  /** What it starts is a Python script (or, after `-m`, a module), not a command line. */
  readonly startsPython?: boolean
}

const TORCHRUN: Omit<Launcher, 'names'> = {
  switches: ['standalone', 'm', 'module', 'no-python', 'run-path', 'use-env', 'help', 'h', 'event-log-handler'],
  nodes: ['nnodes'],
  processesPerNode: ['nproc-per-node', 'nproc'],
  // Elastic launch starts one process on one node where nothing is said (torch.distributed.run, argument defaults).
  otherwise: { nodes: 1, processesPerNode: 1 },
  // Defaults of its options by environment (torch.distributed.argparse_util): how Kubeflow says the size of a job.
  inherits: { nodes: 'PET_NNODES', processesPerNode: 'PET_NPROC_PER_NODE' },
  startsPython: true,
}

const CONTAINER_VALUED = words(`
  B bind env env-file H home W workdir pwd o overlay app hostname network network-args security scratch S
  apply-cgroups add-caps drop-caps dns mount no-mount fusemount nvccli cwd device blkio-weight cpus cpu-shares
  cpuset-cpus cpuset-mems memory memory-reservation memory-swap pids-limit docker-username docker-password pid-file p
  pem-path
`)

const LAUNCHERS: readonly Launcher[] = [
  {
    names: ['srun'],
    switches: words(`
      l label u unbuffered v verbose vv vvv Q quiet overlap O overcommit s oversubscribe exclusive exact pty
      multi-prog kill-on-bad-exit K k no-kill Z no-allocate H hold contiguous X disable-status E preserve-env
      reboot spread-job use-min-nodes I immediate nice propagate interactive test-only resv-ports
      container-writable container-readonly container-remap-root no-container-remap-root container-mount-home
      no-container-mount-home container-entrypoint no-container-entrypoint whole wait-all-nodes mem-bind-verbose
    `),
    nodes: ['N', 'nodes'],
    processesPerNode: ['ntasks-per-node'],
    processes: ['n', 'ntasks'],
    inherits: { nodes: 'SLURM_NNODES', processesPerNode: 'SLURM_NTASKS_PER_NODE', processes: 'SLURM_NTASKS' },
  },
  {
    names: ['mpirun', 'mpiexec', 'mpiexec.hydra', 'orterun', 'prterun', 'ibrun', 'aprun', 'mpirun_rsh'],
    valued: words(`
      np n c H host hosts hostfile machinefile f map-by bind-to rank-by x ppn perhost npernode N npersocket wd
      wdir prefix report-uri output-filename timeout launcher iface d S cc
    `),
    valuedTwice: ['mca', 'gmca', 'genv', 'env', 'prtemca', 'pmixmca'],
    environmentOptions: ['x'],
    processesPerNode: ['npernode', 'ppn', 'perhost', 'N'],
    processes: ['np', 'n', 'c'],
    inherits: { processes: 'SLURM_NTASKS' },
  },
  {
    names: ['horovodrun'],
    switches: words(`
      verbose check-build disable-cache gloo mpi js use-gloo use-mpi autotune hierarchical-allreduce
    `),
    processes: ['np', 'num-proc'],
  },
  {
    names: ['torchrun', 'torch.distributed.run', 'torch.distributed.launch', 'torch.distributed.elastic'],
    ...TORCHRUN,
  },
  {
    names: ['accelerate', 'accelerate.commands.launch', 'accelerate-launch'],
    subcommands: ['launch'],
    switches: words(`
      multi-gpu cpu tpu mps use-mps-device use-fsdp use-deepspeed use-megatron-lm use-xpu ipex m module no-python
      q quiet debug enable-cpu-affinity tpu-cluster no-tpu-cluster tpu-use-sudo downcast-bf16
      use-parallelism-config
    `),
    nodes: ['num-machines'],
    processes: ['num-processes'],
    startsPython: true,
  },
  {
    // Optimum's for Gaudi, and the Transformers examples' for TPUs
    names: ['gaudi_spawn.py', 'xla_spawn.py'],
    switches: words('use-deepspeed use-mpi'),
    processes: ['world-size', 'num-cores'],
    startsPython: true,
  },
  {
    names: ['deepspeed', 'ds', 'deepspeed.launcher.runner'],
    switches: words(`
      module no-python no-local-rank force-multi bind-cores-to-rank no-ssh no-ssh-check save-pid elastic-training
    `),
    nodes: ['num-nodes'],
    processesPerNode: ['num-gpus'],
    startsPython: true,
  },
  {
    names: ['composer'],
    switches: ['v', 'verbose', 'm', 'module-mode', 'command-mode', 'c'],
    processesPerNode: ['n', 'nproc'],
    processes: ['world-size'],
    startsPython: true,
  },
  {
    names: ['paddle.distributed.launch', 'fleetrun'],
    switches: ['help', 'h'],
    nodes: ['nnodes'],
    processesPerNode: ['nproc-per-node'],
    startsPython: true,
  },
  {
    names: ['colossalai'],
    subcommands: ['run'],
    switches: ['help', 'h', 'm'],
    nodes: ['num-nodes'],
    processesPerNode: ['nproc-per-node'],
    startsPython: true,
  },
  {
    names: ['singularity', 'apptainer'],
    subcommands: ['exec', 'run'],
    valued: CONTAINER_VALUED,
    ownWords: 1,
    environmentOptions: ['env'],
  },
  {
    names: ['docker', 'podman', 'podman-hpc', 'nvidia-docker'],
    subcommands: ['run'],
    switches: words(`
      i t d it ti itd dit rm privileged init interactive tty detach read-only no-healthcheck oom-kill-disable P
      publish-all gpu mpi nccl q quiet replace
    `),
    ownWords: 1,
    environmentOptions: ['e', 'env'],
  },
  {
    names: ['ray'],
    subcommands: ['symmetric-run'],
    switches: ['block', 'help', 'no-monitor', 'include-dashboard'],
  },
  {
    names: ['ray'],
    subcommands: ['job'],
    switches: ['no-wait', 'verify', 'help'],
    ownCommand: 'submit',
  },
  {
    names: ['enroot'],
    subcommands: ['start', 'exec'],
    valued: ['c', 'conf', 'e', 'env', 'm', 'mount', 'rc'],
    ownWords: 1,
    environmentOptions: ['e', 'env'],
  },
  {
    names: ['shifter'],
    valued: ['image', 'i', 'volume', 'V', 'module', 'm', 'workdir', 'w', 'env', 'e', 'entrypoint'],
    environmentOptions: ['e', 'env'],
  },
  { names: ['env'], valued: ['u', 'unset', 'C', 'chdir', 'S'] },
  { names: ['time'], valued: ['f', 'format', 'o', 'output'] },
  { names: ['timeout'], valued: ['k', 'kill-after', 's', 'signal'], ownWords: 1 },
  {
    names: ['numactl'],
    valued: ['N', 'cpunodebind', 'C', 'physcpubind', 'm', 'membind', 'i', 'interleave', 'p', 'preferred'],
  },
  { names: ['taskset'], ownWords: 1 },
  { names: ['nice', 'ionice', 'chrt'], valued: ['n', 'adjustment', 'c', 'class', 'classdata'] },
  { names: ['stdbuf'], valued: ['i', 'o', 'e'] },
  { names: ['nsys'], subcommands: ['profile', 'launch'], switches: ['h', 'help', 'wait-primary'] },
  { names: ['ncu', 'rocprof', 'py-spy'], valued: ['o', 'k', 'c', 's', 'i'] },
  { names: ['nvprof'], valued: ['o', 'export-profile', 'log-file', 'm', 'metrics', 'e', 'events', 't', 'timeout'] },
  {
    names: ['conda', 'mamba', 'micromamba'],
    subcommands: ['run'],
    valued: ['n', 'name', 'p', 'prefix', 'cwd', 'r', 'root-prefix', 'e', 'env'],
  },
  {
    names: ['poetry', 'pipenv', 'pixi', 'pdm', 'rye', 'hatch'],
    subcommands: ['run'],
    valued: ['e', 'environment', 'C', 'directory', 'p', 'project'],
  },
  {
    names: ['uv'],
    subcommands: ['run'],
    valued: words(`
      with with-requirements p python extra group project directory env-file index-url cache-dir with-editable
      package
    `),
  },
  {
    names: words(`
      nohup setsid exec command builtin sudo unbuffer catchsegv strace tini dumb-init xvfb-run
    `),
    valued: ['a', 'o', 'e'],
  },
]

const SHELLS = /^(ba|z|da|k|a)?sh$/
const PYTHON = /^(python|pypy)[\d.]*$/
/** Their options never take the next word, but for `-e` and `-p`, behind which no script stands. */
const INTERPRETERS = /^(julia|Rscript)$/
const PYTHON_VALUED = ['W', 'X', 'Q']
/** What is certainly a program where an unknown word might be one or might be options. */
const LOOKS_LIKE_PROGRAM = /\.(py|sh)$/

/** The base name of a path or the name of a module. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function optionName(text: string): string {
  return text.replace(/^--?/, '').replace(/=.*$/s, '').replaceAll('_', '-')
}

function findLauncher(name: string, next: string | undefined): Launcher | undefined {
  return LAUNCHERS.find(
    launcher =>
      launcher.names.includes(name) &&
      (launcher.subcommands === undefined ||
        name.includes('.') ||
        name.includes('-') ||
        launcher.subcommands.includes(next ?? '')),
  )
}

function isProgramName(text: string): boolean {
  const name = baseName(showText(text))
  return (
    PYTHON.test(name) ||
    SHELLS.test(name) ||
    LOOKS_LIKE_PROGRAM.test(name) ||
    LAUNCHERS.some(row => row.names.includes(name))
  )
}

/** A word for the readers. */
export function toCommandWord(field: Field): CommandWord {
  const written = showText(field.text)
  return { text: isKnown(field.text) ? field.text : undefined, written, place: field.place }
}

interface Split {
  readonly options: readonly Field[]
  readonly values: ReadonlyMap<string, Field>
  readonly environment: Readonly<Record<string, string>>
  readonly rest: readonly Field[]
}

/** Parts a launcher's own options from what it starts. */
function splitOptions(words: readonly Field[], launcher: Launcher): Split {
  const values = new Map<string, Field>()
  const environment: Record<string, string> = {}
  let at = 0
  for (; at < words.length; at++) {
    const word = words[at]
    if (word === undefined) break
    const shown = showText(word.text)
    if (shown === '--') {
      at++
      break
    }
    const assignment = launcher.names.includes('env') ? /^(\w+)=(.*)$/s.exec(shown) : null
    if (assignment?.[1] !== undefined) {
      if (isKnown(word.text)) environment[assignment[1]] = assignment[2] ?? ''
      continue
    }
    if (!shown.startsWith('-') || shown === '-') {
      const mayBeOptions = isUnknown(word.text) && launcher.ownWords === undefined
      if (mayBeOptions && words.slice(at + 1).some(later => isProgramName(later.text))) continue
      break
    }
    const name = optionName(shown)
    const glued = /^--?[^=]+=(.*)$/s.exec(word.text)?.[1] ?? gluedShort(shown, launcher)
    const takesNext = glued === undefined && takesValue(name, launcher)
    const next = words[at + 1]
    const value = glued !== undefined ? { ...word, text: glued } : takesNext ? next : undefined
    const key = glued !== undefined && !shown.includes('=') ? shown.slice(1, 2) : name
    if (value !== undefined) values.set(key, value)
    if (value !== undefined && launcher.environmentOptions?.includes(key)) addAssignments(value.text, environment)
    if (takesNext) at += launcher.valuedTwice?.includes(name) ? 2 : 1
  }
  // An image that is given options alone runs its own program, and stands for it.
  const behind = words.slice(at + (launcher.ownWords ?? 0))
  const isWholeCommand =
    launcher.environmentOptions !== undefined && behind[0] !== undefined && /^-/.test(behind[0].text)
  return { options: words.slice(0, at), values, environment, rest: isWholeCommand ? words.slice(at) : behind }
}

/** `-n4`, `-K1`: a short option with its value glued to it; empty for one that takes none. */
function gluedShort(shown: string, launcher: Launcher): string | undefined {
  const match = /^-([A-Za-z])(.+)$/.exec(shown)
  if (match?.[1] === undefined || match[2] === undefined || isListed(optionName(shown), launcher)) return undefined
  if (launcher.switches?.includes(match[1])) return ''
  if (launcher.valued === undefined) return match[2]
  return launcher.valued.includes(match[1]) && /^\d/.test(match[2]) ? match[2] : undefined
}

function isListed(name: string, launcher: Launcher): boolean {
  const { valued, valuedTwice, switches, nodes, processesPerNode, processes } = launcher
  return [valued, valuedTwice, switches, nodes, processesPerNode, processes].some(names => names?.includes(name))
}

function takesValue(name: string, launcher: Launcher): boolean {
  if (launcher.valuedTwice?.includes(name)) return true
  if (launcher.valued !== undefined) return launcher.valued.includes(name)
  return launcher.switches !== undefined && !launcher.switches.includes(name)
}

function addAssignments(text: string, environment: Record<string, string>): void {
  if (!isKnown(text)) return
  for (const pair of text.split(',')) {
    const match = /^(\w+)=(.*)$/s.exec(pair)
    if (match?.[1] !== undefined) environment[match[1]] = match[2] ?? ''
  }
}

/** A count such as `8` or `4:4`; undefined for `auto`, `gpu`, a range `1:4` or what is not known. */
function readCountOption(field: Field | undefined): number | undefined {
  const match = field === undefined ? null : /^(\d+)(?:[:-](\d+))?$/.exec(field.text)
  if (match === null || (match[2] !== undefined && match[2] !== match[1])) return undefined
  return Number(match[1])
}

function launchOf(launcher: Launcher, name: string, split: Split, variables: Readonly<Record<string, string>>): Launch {
  const counted = (
    options: readonly string[] | undefined,
    fallback: number | undefined,
    inherited: string | undefined,
  ) => {
    const given = options?.map(option => split.values.get(option)).find(value => value !== undefined)
    if (given !== undefined) return readCountOption(given)
    const variable = inherited === undefined ? undefined : variables[inherited]
    return variable !== undefined && /^\d+$/.test(variable) ? Number(variable) : fallback
  }
  const narrowed =
    launcher.inherits !== undefined &&
    [...(launcher.nodes ?? []), ...(launcher.processes ?? [])].some(option => split.values.has(option))
  const inherits = narrowed ? undefined : launcher.inherits
  return {
    launcher: name.startsWith('torch.distributed') ? 'torchrun' : (name.split('.')[0] ?? name),
    ...withoutAbsent({
      nodes: counted(launcher.nodes, launcher.otherwise?.nodes, inherits?.nodes),
      processesPerNode: counted(
        launcher.processesPerNode,
        launcher.otherwise?.processesPerNode,
        inherits?.processesPerNode,
      ),
      processes: counted(launcher.processes, undefined, inherits?.processes),
    }),
    options: split.options.map(toCommandWord),
  }
}

/** Takes launchers, containers, wrappers and shells off the front of a command, the outermost first. */
export function peelLaunchers(command: readonly Field[], variables: Readonly<Record<string, string>>): Peeled {
  const launches: Launch[] = []
  const environment: Record<string, string> = {}
  let rest = command
  // Every turn takes at least one word off, so that it ends.
  for (;;) {
    const [first, second, third] = rest
    const name = first === undefined ? '' : baseName(showText(first.text))
    const found = (kind: Peeled['kind'], left: readonly Field[]): Peeled => ({
      kind,
      words: left,
      launches,
      environment,
    })
    if (first === undefined) return found('program', [])
    if (SHELLS.test(name)) return { ...readShell(rest), launches, environment }
    if (PYTHON.test(name)) {
      const python = readPython(rest)
      launches.push({ launcher: 'python', options: python.options.map(toCommandWord) })
      rest = python.rest
      const isLauncher = findLauncher(baseName(showText(rest[0]?.text ?? '')), undefined) !== undefined
      if (!python.isModule && !(isLauncher && /\.py$/.test(rest[0]?.text ?? ''))) return found('program', rest)
      continue
    }
    if (INTERPRETERS.test(name)) {
      const script = rest.findIndex((word, index) => index > 0 && !word.text.startsWith('-'))
      return found('program', /\.(jl|R)$/.test(rest[script]?.text ?? '') ? rest.slice(script) : rest)
    }
    const launcher = findLauncher(name, second && showText(second.text))
    if (launcher === undefined && wrapsCommand(rest)) {
      rest = rest.slice(1)
      continue
    }
    const isOther = launcher?.ownCommand !== undefined && launcher.ownCommand !== third?.text
    if (launcher === undefined || isOther) return found('program', rest)
    const named = launcher.subcommands?.includes(showText(second?.text ?? '')) ? 2 : 1
    const own = named + (launcher.ownCommand === undefined ? 0 : 1)
    const split = splitOptions(rest.slice(own), launcher)
    Object.assign(environment, split.environment)
    if (launcher.nodes ?? launcher.processesPerNode ?? launcher.processes) {
      launches.push(launchOf(launcher, name, split, variables))
    }
    rest = split.rest
    const startsCommand = split.options.some(option => /^--no[-_]python$/.test(option.text))
    if (launcher.startsPython && !startsCommand && !PYTHON.test(baseName(rest[0]?.text ?? '')))
      return found('program', rest)
  }
}

/** `./bind_gpu.sh python train.py …`: a script that is handed a whole command sets something up and runs it. */
function wrapsCommand([first, second, third]: readonly Field[]): boolean {
  const name = baseName(second?.text ?? '')
  if (!/\.sh$|^\.\/[\w.-]+$/.test(showText(first?.text ?? ''))) return false
  if (/^(singularity|apptainer)$/.test(name)) return /^(exec|run)$/.test(third?.text ?? '')
  const starts = PYTHON.test(name) ? /^-[mu]$|\.py$/ : name === 'torchrun' ? /^-|\.py$/ : undefined
  return starts?.test(third?.text ?? '') === true
}

/** `python -u -m package.module args`, `python script.py args`, `python -c code`. */
function readPython(words: readonly Field[]): { options: readonly Field[]; rest: readonly Field[]; isModule: boolean } {
  let at = 1
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? ''
    if (text === '-m') return { options: words.slice(1, at), rest: words.slice(at + 1), isModule: true }
    if (!text.startsWith('-') || text === '-' || text === '-c') break
    if (PYTHON_VALUED.includes(text.slice(1))) at++
  }
  return { options: words.slice(1, at), rest: words.slice(at), isModule: false }
}

/** `bash -euxo pipefail -c script name args`, `bash script.sh args`, or a bare `bash` that reads its input. */
function readShell(words: readonly Field[]): Pick<Peeled, 'kind' | 'words'> {
  let at = 1
  let hasScript = false
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? ''
    if (!/^[-+]./.test(text)) break
    if (/^[-+]\w*c\w*$/.test(text)) hasScript = true
    if (/^[-+]\w*[oO]$/.test(text) || text === '--rcfile' || text === '--init-file') at++
    if (text === '-s' || text === '--') {
      at++
      break
    }
  }
  const rest = words.slice(at)
  if (hasScript) return { kind: 'script', words: rest }
  return rest.length === 0 || rest[0]?.text === '-' ? { kind: 'input', words: [] } : { kind: 'program', words: rest }
}
