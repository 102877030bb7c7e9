import type { Sourced } from '../sourced.ts'
import type { Workload } from '../workload.ts'
import { type Flags, findFlag, type Given, positiveFlag, textFlag } from './flags.ts'

/** Which flags or config keys of a framework give which value; the reader's whole knowledge of names. */
export interface FlagTable {
  readonly steps?: readonly string[]
  readonly epochs?: readonly string[]
  readonly samples?: readonly string[]
  readonly globalBatch?: readonly string[]
  readonly microBatch?: readonly string[]
  readonly gradientAccumulation?: readonly string[]
  readonly sequenceLength?: readonly string[]
  readonly loraRank?: readonly string[]
  readonly modelName?: readonly string[]
  readonly dataset?: readonly string[]
  readonly optimizer?: readonly string[]
}

/** The values of a table's flags, as given. */
export interface GivenValues {
  readonly steps: Given<number>
  readonly epochs: Given<number>
  readonly samples: Given<number>
  readonly globalBatch: Given<number>
  readonly microBatch: Given<number>
  readonly gradientAccumulation: Given<number>
  readonly sequenceLength: Given<number>
  readonly loraRank: Given<number>
  readonly modelName: Given<string>
  readonly dataset: Given<string>
  readonly optimizer: Workload['optimizer'] | undefined
}

/** Reads every flag that a table names. */
export function readTable(flags: Flags, table: FlagTable): GivenValues {
  return {
    steps: positiveFlag(flags, table.steps ?? []),
    epochs: positiveFlag(flags, table.epochs ?? []),
    samples: positiveFlag(flags, table.samples ?? []),
    globalBatch: positiveFlag(flags, table.globalBatch ?? []),
    microBatch: positiveFlag(flags, table.microBatch ?? []),
    gradientAccumulation: positiveFlag(flags, table.gradientAccumulation ?? []),
    sequenceLength: positiveFlag(flags, table.sequenceLength ?? []),
    loraRank: positiveFlag(flags, table.loraRank ?? []),
    modelName: preferredText(flags, table.modelName ?? []),
    dataset: preferredText(flags, table.dataset ?? []),
    optimizer: optimizerOf(textFlag(flags, table.optimizer ?? [])),
  }
}

/** Of several names for nearly the same, the first in the table says it best. */
function preferredText(flags: Flags, names: readonly string[]): Given<string> {
  return names.map(name => textFlag(flags, [name])).find(given => given !== undefined)
}

/** All names of a table, for what concerns every flag that counts. */
export function namesOf(table: FlagTable): readonly string[] {
  return Object.values(table).flat()
}

/** Whether any of the flags is there, whatever its value. */
export function hasFlag(flags: Flags, names: readonly string[]): boolean {
  return findFlag(flags, names) !== undefined
}

function optimizerOf(name: Given<string>): Workload['optimizer'] | undefined {
  if (name === undefined || name === 'unknown') return undefined
  const text = name.value.toLowerCase()
  const kind = (value: NonNullable<Workload['optimizer']>['value']): Sourced<typeof value> => ({
    value,
    origin: name.origin,
  })
  if (/adafactor/.test(text)) return kind('adafactor')
  if (/adam.*(8bit|8-bit)|8bit.*adam/.test(text)) return kind('adam-8bit')
  if (/adam/.test(text)) return kind('adam')
  return kind(/^sgd/.test(text) ? 'sgd' : 'other')
}
