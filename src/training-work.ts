import type { Workload } from './workload.ts'

/** What a run has to get through: sequences, images or clips, counted with every epoch. */
export interface TrainingWork {
  readonly samples: number
  /** How it was worked out, in words. */
  readonly formula: string
}

/**
 * Samples of a whole run; undefined where the manifest does not say how long it trains. Steps win over epochs, as in every trainer
 * (`--max_steps` overrides `--num_train_epochs`).
 */
export function trainingWork(workload: Workload, tokensPerSample: number): TrainingWork | undefined {
  const { steps, globalBatch, samples, epochs, tokens } = workload
  if (steps !== undefined && globalBatch !== undefined) {
    return { samples: steps.value * globalBatch.value, formula: 'steps x global batch' }
  }
  if (samples !== undefined) {
    const passes = epochs?.value ?? 1
    return { samples: samples.value * passes, formula: epochs === undefined ? 'samples' : 'samples x epochs' }
  }
  if (tokens !== undefined) return { samples: tokens.value / tokensPerSample, formula: 'tokens / sequence length' }
  return undefined
}
