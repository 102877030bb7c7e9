import type { Precision, Workload } from '../../workload.ts'
import type { FlagTable } from '../training-flags.ts'

/** A published training program whose options are known from its source. */
export interface KnownScript {
  /** As the report calls its framework; research code in plain PyTorch is `pytorch`. */
  readonly framework: string
  /** Its path, or the module that is run. */
  readonly program: RegExp
  /** Options that tell it from other programs of that name, of which so many are there; none where the path says it all. */
  readonly own?: { readonly flags: readonly string[]; readonly least: number }
  /** `microBatch` is one process's, `globalBatch` everybody's. */
  readonly table: FlagTable
  /** The batch of all GPUs of one machine, and how many machines there are. */
  readonly machineBatch?: { readonly batch: readonly string[]; readonly machines: readonly string[] }
  /** What it takes where it is told nothing. */
  readonly defaults?: Defaults
  /**
   * Files with values for these same options, which those of the command line win over; later files win over earlier ones. `0` for the
   * first argument that is called like one.
   */
  readonly configFlags?: readonly (string | 0)[]
  /** `KEY VALUE` among its arguments sets a key of the configuration (yacs, as in detectron2). */
  readonly takesPairs?: true
  /** The configuration is called as the model it describes. */
  readonly namesModelByConfig?: true
  /** Options that say how many steps count as one epoch, and what counts without them. */
  readonly epochSteps?: { readonly flags: readonly string[]; readonly otherwise: number }
  /** Where both are given, epochs win over steps. */
  readonly epochsWin?: true
  /** Options without which all parameters are trained. */
  readonly adapter?: readonly string[]
  /** Where the data lies: options, or `0` for the first argument that is none. */
  readonly dataFolder?: readonly (string | 0)[]
  /** What its plain switch for mixed precision means, or this word behind it. */
  readonly mixed?: { readonly flags: readonly string[]; readonly word?: string; readonly precision: Precision }
  /** Switches that make it evaluate and nothing else. */
  readonly evaluation?: readonly string[]
  /** Arguments that have it do something else than train. */
  readonly purposes?: readonly (readonly [RegExp, Workload['purpose']])[]
  /** Options that count all samples of the run, in units of so many. */
  readonly wholeRun?: { readonly flags: readonly string[]; readonly samples: number }
  /**
   * It starts processes by itself: as many as it is told, else one or one for each GPU. Any other program is one process where no
   * launcher stands before it.
   */
  readonly spawns?: {
    readonly perMachine: readonly string[]
    /** Options that list the devices, `0,1,2,3`. */
    readonly devices?: readonly string[]
    readonly machines: readonly string[]
    readonly otherwise: 'one' | 'each-gpu'
  }
  readonly checkpoint?: {
    readonly steps?: readonly string[]
    readonly epochs?: readonly string[]
    readonly folder?: readonly string[]
    readonly resume?: readonly string[]
  }
  /** What an epoch goes through; not said where the program draws its samples otherwise. */
  readonly epochOf?: 'samples'
}

/** Values with the program's version or day that they were read from. */
export interface Defaults {
  readonly source: string
  readonly steps?: number
  readonly epochs?: number
  readonly globalBatch?: number
  readonly microBatch?: number
  readonly gradientAccumulation?: number
  /** Between two checkpoints. */
  readonly intervalSteps?: number
  readonly intervalEpochs?: number
  readonly modelName?: string
  readonly precision?: Precision
  readonly optimizer?: NonNullable<Workload['optimizer']>['value']
}
