import { type Sourced, sourced } from '../sourced.ts'
import type { Precision } from '../workload.ts'
import { precisionOf } from './config-files.ts'
import { type Flags, known, switchFlag, textFlag } from './flags.ts'

/** Options that name a number format. */
const NAMING = ['trainer.precision', 'precision', 'mixed-precision', 'amp', 'amp-dtype', 'dtype', 'default-dtype']

/** The number format that switches (`--bf16`) or words (`--precision bf16-mixed`) ask for. */
export function precisionFrom(flags: Flags): Sourced<Precision> | undefined {
  for (const name of ['bf16', 'fp16'] as const) {
    const on = known(switchFlag(flags, [name, `use-${name}`]))
    if (on?.value === true) return sourced(name, on.origin)
  }
  const words = NAMING.flatMap(name => known(textFlag(flags, [name])) ?? [])
  return words.flatMap(({ value, origin }) => {
    const precision = precisionOf(value)
    return precision === undefined ? [] : [sourced(precision, origin)]
  })[0]
}
