import type { CommandLine } from '../command-lines.ts'
import { baseName } from '../launchers.ts'
import { withoutAbsent } from '../sourced.ts'
import type { Workload } from '../workload.ts'
import { runOf } from './configured.ts'
import { known, positiveFlag, readFlags } from './flags.ts'
import type { WorkloadReader } from './workload-reader.ts'

/** A program whose time hangs on its input: how long it takes, no formula over its command line says. */
interface ScientificCode {
  readonly framework: string
  /** Names of its programs. */
  readonly programs: RegExp
  /** Words that its arguments begin with, where not every use of it computes on GPUs. */
  readonly onGpu?: RegExp
  /** Options that give its time steps. */
  readonly steps?: readonly string[]
  /** A network's answers, and no simulation. */
  readonly infers?: true
}

const CODES: readonly ScientificCode[] = [
  { framework: 'gromacs', programs: /^(gmx(_\w+)?)$/, onGpu: /^(-\S+ )*mdrun\b/, steps: ['nsteps'] },
  { framework: 'gromacs', programs: /^mdrun(_\w+)?$/, steps: ['nsteps'] },
  { framework: 'namd', programs: /^(namd\d?|charmrun)$/i },
  { framework: 'lammps', programs: /^(lmp|lammps)(_\w+)?$/ },
  { framework: 'amber', programs: /^pmemd\.(cuda|hip)/ },
  { framework: 'openmm', programs: /openmm/i },
  { framework: 'hoomd', programs: /hoomd/i },
  { framework: 'desmond', programs: /^(desmond|gdesmond)$/ },
  { framework: 'vasp', programs: /^vasp(_(std|gam|ncl|gpu|gpu_ncl))?$/ },
  { framework: 'quantum-espresso', programs: /^(pw|cp|ph|neb|epw)\.x$/ },
  { framework: 'cp2k', programs: /^cp2k(\.\w+)?$/ },
  { framework: 'gaussian', programs: /^(g09|g16|gdv)$/ },
  { framework: 'nwchem', programs: /^nwchem$/ },
  { framework: 'gpaw', programs: /^gpaw(-python)?$/ },
  { framework: 'qmcpack', programs: /^qmcpack(_\w+)?$/ },
  { framework: 'relion', programs: /^relion_(refine|autopick|tomo_\w+|motion_refine)(_mpi)?$/ },
  { framework: 'cryosparc', programs: /^cryosparc[mw_]?\w*$/ },
  { framework: 'alphafold', programs: /^(run_alphafold\w*|alphafold)(\.(py|sh))?$/, infers: true },
  { framework: 'colabfold', programs: /^colabfold_batch$/, infers: true },
  { framework: 'boltz', programs: /^boltz$/, onGpu: /^predict\b/, infers: true },
  { framework: 'chai-lab', programs: /^chai(-lab)?$/, onGpu: /^fold\b/, infers: true },
  { framework: 'openfold', programs: /^run_pretrained_openfold\.py$/, infers: true },
  {
    framework: 'rosettafold',
    programs: /^(run_rf2na|run_e2e_ver|run_pyrosetta_ver|RoseTTAFold\w*)(\.sh|\.py)?$/,
    infers: true,
  },
  { framework: 'esm', programs: /^esm-(extract|fold)$/, infers: true },
  { framework: 'marian', programs: /^marian-(decoder|scorer|server)$/, infers: true },
  { framework: 'fairseq', programs: /^fairseq-(generate|interactive|validate|eval-lm)$/, infers: true },
  { framework: 'opennmt-py', programs: /^onmt_translate$/, infers: true },
  { framework: 'sockeye', programs: /^sockeye-(translate|score)$/, infers: true },
  { framework: 'whisper', programs: /^(whisper|whisperx|whisper-ctranslate2)$/, infers: true },
  { framework: 'wrf', programs: /^wrf\.exe$/ },
  { framework: 'pyfr', programs: /^pyfr$/, onGpu: /^(-\S+ )*(run|restart)\b/ },
  { framework: 'nekrs', programs: /^(nekrs|nrsmpi|nrspre)$/ },
  { framework: 'amrex', programs: /\.(CUDA|HIP)\.ex$/ },
  { framework: 'dorado', programs: /^dorado$/, onGpu: /^(basecaller|duplex)\b/, infers: true },
  { framework: 'guppy', programs: /^guppy_basecaller(_server)?$/, infers: true },
  { framework: 'parabricks', programs: /^pbrun$/ },
  { framework: 'hpl', programs: /^(xhpl|hpl|hpcg|xhpcg)(\.sh)?$/ },
  {
    framework: 'nccl-tests',
    programs: /^(all_reduce|all_gather|reduce_scatter|alltoall|broadcast|sendrecv)_perf(_mpi)?$/,
  },
]

/** Scientific codes and programs for one network: what they are, and what their command line says of the length; the rest stands in their input. */
export const scientific: WorkloadReader = {
  name: 'scientific',

  refersTo() {
    return []
  },

  read(commandLine) {
    const code = codeOf(commandLine)
    if (code === undefined) return undefined
    const given = commandLine.arguments.map(word => word.written).join(' ')
    const isOnCpu = code.onGpu?.test(given) === false || (code.framework === 'alphafold' && searchesOnly(commandLine))
    const workload: Workload = {
      ...runOf(commandLine, code.infers && !isOnCpu ? 'infer' : 'other', code.framework),
      device: isOnCpu ? 'cpu' : 'gpu',
      ...withoutAbsent({ steps: known(positiveFlag(readFlags(commandLine), code.steps ?? [])) }),
    }
    return { workload, warnings: [] }
  },
}

function codeOf({ program }: CommandLine): ScientificCode | undefined {
  const name = nameOfImage(baseName(program))
  return CODES.find(({ programs }) => programs.test(name))
}

/** `alphafold_2.3.2.sif`: a container that is run stands for the program that it is called after. */
function nameOfImage(name: string): string {
  return /\.(sif|simg|sqsh)$/.test(name) ? name.replace(/[-_.:]v?\d.*$|\.\w+$/, '') : name
}

/** AlphaFold 3 looks sequences up first, on CPUs, and ends there if told to (`--norun_inference`). */
function searchesOnly(commandLine: CommandLine): boolean {
  return commandLine.arguments.some(word => /^--(norun_inference|run_inference=(false|False))$/.test(word.written))
}
