import type { Place } from './errors.ts'
import type { Model } from './model.ts'
import type { Sourced } from './sourced.ts'

/** Number format of the matrix work. */
export type Precision = 'fp32' | 'tf32' | 'fp16' | 'bf16' | 'fp8'

/** Which parameters are trained, and how the frozen ones are kept. */
export type TrainingMethod = 'full' | 'lora' | 'qlora'

/** How the work is split over the GPUs. */
export interface Parallelism {
  readonly tensor: number
  readonly pipeline: number
  /** Interleaved pipeline chunks per stage. */
  readonly interleave: number
  readonly context: number
  readonly expert: number
  /** What data-parallel ranks share: nothing, optimizer (ZeRO-1), also gradients (2), also weights (3, FSDP). */
  readonly sharding: 'none' | 'optimizer' | 'gradients' | 'weights' | 'unknown'
}

/** What a training run keeps for an interruption; what is absent is not said. */
export interface Checkpointing {
  /** Optimizer steps between two checkpoints. */
  readonly intervalSteps?: Sourced<number>
  readonly intervalSeconds?: Sourced<number>
  readonly intervalEpochs?: Sourced<number>
  /** Folder or address as written. */
  readonly destination?: Sourced<string>
  /** All that is needed to go on, or the weights alone. */
  readonly content?: Sourced<'full' | 'weights'>
  /** Started again, it goes on from its last checkpoint. */
  readonly resumes?: Sourced<boolean>
}

/** One run a job makes: what is computed. What cannot be known is absent, never guessed. */
export interface Workload {
  readonly purpose: 'train' | 'evaluate' | 'infer' | 'serve' | 'other'
  /** `hf-trainer`, `megatron-lm`, `nanogpt`, `pytorch`, or absent. */
  readonly framework?: Sourced<string>
  /**
   * Of work that neither trains nor infers: on CPUs, so that the GPUs idle, or on GPUs for a time that no formula gives. Absent where
   * it takes little time beside the runs of the job.
   */
  readonly device?: 'cpu' | 'gpu'
  /** The line of the command that starts it. */
  readonly place: Place
  /** Name of the role whose GPUs it uses. */
  readonly role: string
  /** The model's name as written, even where no table knows it. */
  readonly modelName?: Sourced<string>
  readonly model?: Sourced<Model>
  readonly dataset?: Sourced<string>
  readonly steps?: Sourced<number>
  readonly epochs?: Sourced<number>
  readonly samples?: Sourced<number>
  /** All tokens of the run: steps x global batch x sequence length, or as declared. */
  readonly tokens?: Sourced<number>
  /** Sequences or images of one optimizer step, over all GPUs. */
  readonly globalBatch?: Sourced<number>
  readonly microBatch?: Sourced<number>
  readonly gradientAccumulation?: Sourced<number>
  readonly sequenceLength?: Sourced<number>
  /** Tokens generated for each sample, where a model generates; `sequenceLength` is then its prompt. */
  readonly outputTokens?: Sourced<number>
  readonly precision?: Sourced<Precision>
  /** Bits that a weight is kept in, where an engine keeps it quantised. */
  readonly weightBits?: Sourced<number>
  readonly method?: Sourced<TrainingMethod>
  readonly loraRank?: Sourced<number>
  readonly parallelism?: Sourced<Parallelism>
  readonly activationRecompute?: Sourced<'none' | 'selective' | 'full'>
  readonly flashAttention?: Sourced<boolean>
  readonly compiled?: Sourced<boolean>
  readonly optimizer?: Sourced<'adam' | 'adam-8bit' | 'sgd' | 'adafactor' | 'other'>
  readonly cpuOffload?: Sourced<boolean>
  readonly checkpoint?: Checkpointing
  /** The model itself writes the text it is trained on (PPO, GRPO), which takes time of its own. */
  readonly generates?: true
  /** Processes its launchers start, one for each GPU as a rule. */
  readonly processes?: Sourced<number>
  /** Started in the background: the runs after it, and its repetitions, stand beside it. */
  readonly background?: true
  /** Times this run is made one after the other. */
  readonly repetitions: number
  /** It may not run at all: it stands in a branch that is not known. */
  readonly conditional: boolean
}
