import type { CommandLine } from '../command-lines.ts'
import type { Job } from '../job.ts'
import { baseName } from '../launchers.ts'
import type { Warning } from '../warning.ts'
import { words } from '../word-list.ts'
import type { Workload } from '../workload.ts'
import { referredPath } from './config-files.ts'
import { countingLaunch } from './processes.ts'
import type { FilesAtHand, WorkloadReader } from './workload-reader.ts'

/** Python programs that make data ready or look at results, by their names. */
const SCRIPTS =
  /^(pre-?process|prepare|prep_|tokeni[sz]e|download|make_(dataset|data|splits?|tfrecords?|lmdb|shards?)|build_(dataset|data|index|vocab)|create_(dataset|data|tfrecords?|lmdb|shards?|index)|extract_(frames|audio|archives?|images|text)|convert_(data|dataset|annotations|coco|voc|images|csv|json|to_(tfrecord|lmdb|wds|parquet|mds|coco|jsonl))|dedup|shard_|split_(data|dataset|train)|merge_(datasets?|shards?)|resize_|crop_|filter_(data|dataset)|clean_|(calc|calculate|compute)_(bleu|chrf|rouge|wer|cer|accuracy|f1|stats|statistics|mean_std)|aggregate_|collect_results|plot|visuali[sz]e_(results|data)|post-?process)/

/** Programs that compute on CPUs alone, whatever they are told. */
const PROGRAMS = new Set(
  words(`
    bbduk.sh bcftools bedtools blastn blastp bowtie2 bwa colabfold_search fairseq-preprocess fasterq-dump fastp fastqc
    fastq-dump featureCounts hisat2 hhblits jackhmmer kallisto mafft megahit mmseqs multiqc nnUNet_plan_and_preprocess
    nnUNetv2_plan_and_preprocess onmt_build_vocab prefetch real.exe relion_postprocess relion_preprocess sacrebleu salmon
    samtools sox spades.py spm_encode spm_train STAR subword-nmt trimmomatic ungrib.exe metgrid.exe geogrid.exe
  `),
)

/** Commands that fetch data sets and weights, which is work where a job does nothing else. */
const TRANSFERS: readonly RegExp[] = [
  /^(huggingface-cli|hf) (download|upload)\b/,
  /^(aws s3|s5cmd|gsutil( -\S+)*|gcloud storage|azcopy|rclone|kaggle|dvc|modelscope)\b.* ?(cp|sync|copy|rsync|mv|download|pull)\b/,
]

/** What is made ready with a network: its latents, features, captions. */
const BY_NETWORK =
  /latent|embed|feature|vae|clip|caption|depth|pose|mask|logit|teacher|generat|infer|model|ckpt|checkpoint|weight/

/** Options by which a program is told to compute on GPUs, and ffmpeg's words for it. */
const GPU_OPTION = /^-.*(cuda|gpus?|fp16|bf16|devices?|precision)([^a-z]|$)/i
const GPU_WORD = /^cuda(:\d+)?$|nvenc|nvdec|cuvid|_cuda\b/i
/** The same in a program's text: PyTorch, TensorFlow, JAX and what is built on them. */
const TEXT_ON_GPU =
  /\bcuda\b|\.to\(\s*device|\bdevice_map\b|\bjax\b|\btensorflow\b|\bcupy\b|\bcudf\b|\bvllm\b|\baccelerator\b|\bpipeline\(/i

/** Programs that GPUs do nothing for: data made ready, results counted. */
export const cpuWork: WorkloadReader = {
  name: 'cpu-work',

  refersTo(commandLine) {
    return isScript(commandLine) ? [referredPath(programWord(commandLine)) ?? []].flat() : []
  },

  read(commandLine, { files }) {
    if (!isOnCpu(commandLine, files)) return undefined
    const { place, repetitions, conditional } = commandLine
    const workload: Workload = { purpose: 'other', device: 'cpu', place, role: '', repetitions, conditional }
    return { workload, warnings: [] }
  },
}

function programWord({ program, place }: CommandLine) {
  return { text: program, written: program, place }
}

function isScript(commandLine: CommandLine): boolean {
  const name = baseName(commandLine.program).replace(/\.py$/, '').split('.').at(-1) ?? ''
  const isPython =
    commandLine.launches.some(launch => launch.launcher === 'python') || /\.py$/.test(commandLine.program)
  return isPython && SCRIPTS.test(name) && !BY_NETWORK.test(name)
}

function isOnCpu(commandLine: CommandLine, files: FilesAtHand): boolean {
  // What is started once for each GPU, or told of one, is meant for GPUs.
  const launcher = countingLaunch(commandLine)?.launcher
  const given = commandLine.arguments.map(word => word.written)
  if (/^(torchrun|accelerate|deepspeed|horovodrun)$/.test(launcher ?? '') || given.some(isForGpu)) return false
  const name = baseName(commandLine.program)
  if (PROGRAMS.has(name) || name === 'ffmpeg') return true
  if (!isScript(commandLine)) return false
  const file = files.get(referredPath(programWord(commandLine)) ?? '')
  return file === undefined || !('text' in file) || !TEXT_ON_GPU.test(file.text)
}

function isForGpu(word: string): boolean {
  return GPU_OPTION.test(word) || GPU_WORD.test(word)
}

/** Whether a command fetches data. */
function isTransfer({ program, arguments: given }: CommandLine): boolean {
  const written = [baseName(program), ...given.map(word => word.written)].join(' ')
  return TRANSFERS.some(pattern => pattern.test(written))
}

/** What a job runs: its command lines, those of them that were read, and those that only prepare and look. */
interface Commands {
  readonly all: readonly CommandLine[]
  readonly read: readonly CommandLine[]
  isErrand(commandLine: CommandLine): boolean
}

/** A job on GPUs that does nothing but what CPUs do: data made ready or fetched, results counted. */
export function explainCpuWork(job: Job, { all, read, isErrand }: Commands, workloads: readonly Workload[]): Warning[] {
  const gpus = job.roles.reduce((sum, role) => sum + role.gpuCount.value, 0)
  // In a pod data is fetched before or beside a container that runs what its image says, which is no command line.
  const works = all.filter(line => read.includes(line) || (job.scheduler === 'slurm' && isTransfer(line)))
  const [first] = works
  if (gpus === 0 || job.endless || first === undefined) return []
  const isOnlyThat = all.every(line => works.includes(line) || isErrand(line))
  if (!isOnlyThat || workloads.some(({ device }) => device !== 'cpu')) return []
  const names = [...new Set(works.map(line => baseName(line.program)))]
  const listed = `${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? ' and others' : ''}`
  const text = `by the names of what it runs (${listed}) this job does nothing that needs a GPU`
  return [{ code: 'cpu-work', text, place: first.place, idleGpus: gpus }]
}

/** Programs that a warning names. */
const MOST_NAMED = 3
