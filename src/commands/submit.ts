import { GpufareError } from '../errors.ts'
import type { EstimateOptions } from './estimate.ts'

/** What `gpufare submit` can be told. */
export interface SubmitOptions extends EstimateOptions {
  readonly yes?: true
  /** In the currency of the configuration. */
  readonly maxCost?: number
  readonly dryRun?: true
}

export async function submit(
  _files: readonly string[],
  _options: SubmitOptions,
  _passedOn: { readonly schedulerArguments: readonly string[]; readonly scriptArguments: readonly string[] },
): Promise<number> {
  throw new GpufareError('submit is not built yet', 1)
}
