import { type LineFormat, lineReader } from './line-format.ts'
import type { LogReader } from './log-reader.ts'

const maxtext: LineFormat = {
  framework: 'maxtext',
  unit: 'optimizer-step',
  report:
    /completed step: (?<step>\d+), seconds: (?<seconds>[\d.]+), TFLOP\/s\/device: [\d.]+, Tokens\/s\/device: (?<tokensPerSecond>[\d.]+)/,
  zeroBased: true,
  ratesPerDevice: true,
  figures: [
    { figure: 'stepsTotal', pattern: /\bConfig param steps: (\d+)/ },
    { figure: 'worldSize', pattern: /\bNum_devices: (\d+)/ },
    { figure: 'globalBatch', pattern: /\bConfig param global_batch_size_to_train_on: (\d+)/ },
    { figure: 'sequenceLength', pattern: /\bConfig param max_target_length: (\d+)/ },
  ],
  evaluation: /\bevaluated? (?:step|metrics)|eval(?:uation)? metrics/i,
}

const t5x: LineFormat = {
  framework: 't5x',
  unit: 'optimizer-step',
  report:
    /\b(?:Step|train(?:ing)? (?:metrics )?at step|Training: step) ?(?<step>\d+).*?\bsteps_per_second[=:] ?(?<stepsPerSecond>[\d.]+)/i,
}

/** Programs on JAX. */
export const jax: readonly LogReader[] = [maxtext, t5x].map(lineReader)
