import * as z from 'zod'
import { progressWarningCodes } from './progress-warning.ts'

const Place = z.strictObject({
  file: z.string(),
  line: z.int().positive().optional(),
  column: z.int().positive().optional(),
})

const Figure = z.strictObject({
  value: z.number(),
  origin: z
    .union([
      z.strictObject({ kind: z.literal('file'), place: Place }),
      z.strictObject({ kind: z.literal('computed'), formula: z.string() }),
      z.strictObject({ kind: z.literal('assumed'), reason: z.string() }),
    ])
    .describe('file: it stands in that line; computed: it follows from others there; assumed: nobody says so'),
})

const Log = z.strictObject({
  file: z.string(),
  job: z.string().optional().describe('the job that wrote it, of a log that is kept where it was told (--list)'),
  framework: z.string().optional().describe('program that wrote the log; absent where it is none of those known'),
  outcome: z
    .enum(['finished', 'running', 'time-limit', 'oom', 'crashed', 'cancelled', 'unknown'])
    .describe('running: the file stops, and nothing in it says why'),
  runs: z.int().positive().describe('runs in the file; all figures are of the last'),
  unit: z
    .enum(['optimizer-step', 'micro-step', 'sample', 'token', 'epoch', 'other', 'none'])
    .describe('what stepsDone, stepsTotal and secondsPerStep count'),
  stepsDone: Figure.optional().describe('from the beginning of the run, counted from 1'),
  stepsTotal: Figure.optional().describe('planned for the whole run'),
  secondsPerStep: Figure.optional().describe('steady state: without warm-up, evaluation and checkpoints'),
  samplesPerSecond: Figure.optional().describe('of the whole job'),
  tokensPerSecond: Figure.optional().describe('of the whole job'),
  globalBatch: Figure.optional().describe('samples of an optimizer step, over all GPUs and accumulation'),
  epochsDone: Figure.optional().describe('whole epochs'),
  epochsTotal: Figure.optional(),
  startedToFirstStepSeconds: Figure.optional().describe('first time stamp to the start of the first step'),
  elapsedSeconds: Figure.optional().describe('wall time that the file shows'),
  remainingSeconds: Figure.optional().describe('what the planned work still needs; 0 when finished'),
  dataShare: Figure.optional().describe('share of a step that waits for data, 0 to 1'),
  peakMemoryBytes: Figure.optional().describe('of one GPU'),
  worldSize: Figure.optional().describe('processes or GPUs'),
  warnings: z.array(
    z.strictObject({ code: z.enum(progressWarningCodes), text: z.string(), line: z.int().positive().optional() }),
  ),
})

/** What `learn --format json` prints. The published JSON Schema is made from it. Figures that are not known are absent. */
export const LearnedDocument = z.strictObject({ schemaVersion: z.literal(1), logs: z.array(Log) })

/** JSON Schema (draft 2020-12) of `learn --format json`. */
export function learnJsonSchema(): object {
  return { title: 'gpufare learn', ...z.toJSONSchema(LearnedDocument) }
}
