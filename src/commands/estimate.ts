import { GpufareError } from '../errors.ts'

/** What `gpufare estimate` can be told. */
export interface EstimateOptions {
  readonly format: 'table' | 'json'
  readonly all?: true
  readonly explain?: true
  readonly config?: string
  readonly quiet?: true
  readonly color: boolean
}

export async function estimate(
  _files: readonly string[],
  _options: EstimateOptions,
  _passedOn: { readonly schedulerArguments: readonly string[]; readonly scriptArguments: readonly string[] },
): Promise<number> {
  throw new GpufareError('estimate is not built yet', 1)
}
