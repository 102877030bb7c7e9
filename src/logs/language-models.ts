import { derived } from './figures.ts'
import { type LineFormat, lineReader, readLines } from './line-format.ts'
import type { LogReader, LogReading } from './log-reader.ts'
import type { LogRecord } from './records.ts'
import { median } from './steady-rate.ts'

const torchtitan: LineFormat = {
  framework: 'torchtitan',
  unit: 'optimizer-step',
  report:
    /\bstep:\s*(?<step>\d+)\s+loss:\s*\S+.*?memory:\s*(?<gib>[\d.]+)GiB\(.*?\)(?:\s+(?:tps|wps):\s*(?<tokensPerSecond>[\d,]+))?/,
  ratesPerDevice: true,
  figures: [
    { figure: 'globalBatch', pattern: /global batch size (\d+)/ },
    { figure: 'sequenceLength', pattern: /sequence length (\d+)/ },
    { figure: 'stepsTotal', pattern: /total steps (\d+)/ },
    { figure: 'microBatch', pattern: /local batch size (\d+)/ },
    { figure: 'accumulation', pattern: /gradient accumulation steps (\d+)/ },
  ],
  started: /Training starts at step/,
  finished: /Training completed|Sleeping 2 seconds for other ranks/,
  evaluation: /\bvalidate step:/,
  refine: (reading, records) => {
    // the mesh is all of the job: `Building 2-D device mesh with ['dp_shard', 'tp'], [8, 8]`
    const mesh = records.flatMap(({ text, line }) => {
      const sizes = /Building \d-D device mesh with \[[^\]]*\], \[([\d, ]+)\]/.exec(text)?.[1]
      return sizes === undefined
        ? []
        : [{ value: sizes.split(',').reduce((product, size) => product * Number(size), 1), line }]
    })[0]
    return mesh === undefined ? reading : { ...reading, figures: { ...reading.figures, worldSize: mesh } }
  },
}

const litgpt: LineFormat = {
  framework: 'litgpt',
  unit: 'micro-step',
  report:
    /\biter (?<step>\d+) \|? ?step (?<tokens>\d+)\s*(?:\||:).*?iter time: (?<ms>[\d.]+) ?ms(?: \((?:step|optimizer\.step)\))?(?: remaining time: (?<left>.+?)\s*$)?/,
  figures: [
    { figure: 'globalBatch', pattern: /'global_batch_size': (\d+)/ },
    { figure: 'elapsedSeconds', pattern: /^Training time: ([\d.]+)s/ },
    { figure: 'peakMemoryBytes', pattern: /^Memory used: ([\d.]+) GB/, scale: 1e9 },
  ],
  finished: /^Training time: /,
  evaluation: /\bval(?:idation)?(?: loss)?:? (?!n\/a)[\d.]+/,
  warnings: ['two-counters'],
  refine: (reading, records) => litgptSteps(reading, records),
}

/** The iteration that also runs the optimizer takes longer: the mean of whole optimizer steps is the time of an iteration. */
function litgptSteps(reading: LogReading, records: readonly LogRecord[]): LogReading {
  const texts = new Map(records.map(record => [record.line, record.text]))
  const points = reading.points.map(point => ({ ...point, tokensSeen: undefined }))
  const ratios = reading.points.flatMap(({ step, tokensSeen = 0, line }) =>
    /\(\w*\.?step\)/.test(texts.get(line) ?? '') && tokensSeen > 0 ? [step / tokensSeen] : [],
  )
  const ratio = Math.round(median(ratios))
  const warm = points.slice(Math.ceil(points.length / 10))
  const isStep = (line: number) => /\((?:optimizer\.)?step\)/.test(texts.get(line) ?? '')
  const of = (wanted: boolean) =>
    median(
      warm.flatMap(({ line, secondsPerStep }) =>
        isStep(line) === wanted && secondsPerStep !== undefined ? [secondsPerStep] : [],
      ),
    )
  const [plain, long] = [of(false), of(true)]
  if (!Number.isFinite(ratio) || ratio < 2 || !Number.isFinite(plain) || !Number.isFinite(long))
    return { ...reading, points }
  const seconds = derived(
    `${ratio - 1} iterations and one with the optimizer, over ${ratio}`,
    ((ratio - 1) * plain + long) / ratio,
  )
  const untimed = points.map(point => ({ ...point, secondsPerStep: undefined }))
  return {
    ...reading,
    points: untimed,
    figures: { ...reading.figures, secondsPerStep: seconds, accumulation: derived('iterations of a step', ratio) },
  }
}

const nanogpt: LineFormat = {
  framework: 'nanogpt',
  unit: 'optimizer-step',
  report: /^\s*iter (?<step>\d+): loss [\d.naninf]+, time (?<ms>[\d.]+)ms/,
  zeroBased: true,
  figures: [
    { figure: 'stepsTotal', pattern: /^\s*max_iters\s*=\s*(\d+)/ },
    { figure: 'sequenceLength', pattern: /^\s*block_size\s*=\s*(\d+)/ },
  ],
  evaluation: /^step \d+: train loss/,
  refine: (reading, records) => {
    const tokens = records.flatMap(({ text }) => /tokens per iteration will be: ([\d,]+)/.exec(text)?.[1] ?? [])[0]
    const perStep = tokens === undefined ? undefined : Number(tokens.replaceAll(',', ''))
    const seconds = secondsOf(reading)
    const length = reading.figures.sequenceLength?.value
    const world = records.flatMap(({ text }) => /gradient_accumulation_steps = \d+ \* (\d+)/.exec(text)?.[1] ?? [])[0]
    return {
      ...reading,
      figures: {
        ...reading.figures,
        ...(perStep !== undefined &&
          length !== undefined && { globalBatch: derived('tokens of a step over their length', perStep / length) }),
        ...(perStep !== undefined && { tokensPerSecond: derived('tokens of a step over its time', perStep / seconds) }),
        ...(world !== undefined &&
          reading.figures.worldSize === undefined && {
            worldSize: derived('accumulation over all GPUs', Number(world)),
          }),
      },
    }
  },
}

function secondsOf({ points }: LogReading): number {
  return median(points.slice(1).flatMap(point => point.secondsPerStep ?? []))
}

const buildNanogpt: LineFormat = {
  framework: 'build-nanogpt',
  unit: 'optimizer-step',
  report:
    /^\s*step\s+(?<step>\d+) \| loss: [\d.naninf]+ \| lr:? \S+ \| norm: \S+ \| dt: (?<ms>[\d.]+)ms \| tok\/sec: (?<tokensPerSecond>[\d.]+)/,
  zeroBased: true,
  evaluation: /^validation loss|^HellaSwag accuracy/,
}

const llmC: LineFormat = {
  framework: 'llm.c',
  unit: 'optimizer-step',
  report:
    /^\s*step\s+(?<step>\d+)\/(?<total>\d+) \| (?:train )?loss .*?\| (?<ms>[\d.]+) ms \|.*?(?<tokensPerSecond>\d+) tok\/s/,
  figures: [
    { figure: 'sequenceLength', pattern: /\| sequence length T\s+\| (\d+)/ },
    { figure: 'worldSize', pattern: /\| num_processes\s+\| (\d+)/ },
    { figure: 'microBatch', pattern: /\| micro batch size B\s+\| (\d+)/ },
  ],
  finished: /total average iteration time/,
  evaluation: /^val loss|HellaSwag:/,
  refine: (reading, records) => {
    const total = records.flatMap(({ text }) => /\| total batch size\s+\| (\d+)/.exec(text)?.[1] ?? [])[0]
    const length = reading.figures.sequenceLength?.value
    if (total === undefined || length === undefined) return reading
    return {
      ...reading,
      figures: {
        ...reading.figures,
        globalBatch: derived('tokens of a step over their length', Number(total) / length),
      },
    }
  },
}

const moddedNanogpt: LineFormat = {
  framework: 'modded-nanogpt',
  unit: 'optimizer-step',
  report:
    /\bstep:(?<step>\d+)\/(?<total>\d+) (?:train_loss:\S+ |val_loss:\S+ )?train_time:(?<elapsedMs>[\d.]+)ms(?: step_avg:(?<meanMs>[\d.]+)ms)?/,
  figures: [
    { figure: 'worldSize', pattern: /\bworld_size[ =:]+(\d+)/ },
    { figure: 'peakMemoryBytes', pattern: /peak memory (?:allocated|consumption): (\d+) MiB/, scale: 2 ** 20 },
  ],
  warnings: ['time-excludes-part'],
  evaluation: /\bstep:\d+\/\d+ val_loss:/,
  refine: (reading, records) => {
    const last = reading.points.at(-1)
    const rows = new Set(records.flatMap(({ text }) => /^\|\s+(\d+)\s+NVIDIA /.exec(text)?.[1] ?? []))
    const isDone = last !== undefined && last.step === last.total
    // the program's clock leaves out the first ten steps and validation: it is no clock of the run
    const points = reading.points.map(({ elapsedSeconds, meanSecondsPerStep, ...point }, index, all) => {
      const before = reading.points[index - 1]
      const steps = before === undefined ? 0 : point.step - before.step
      const took = (elapsedSeconds ?? Number.NaN) - (before?.elapsedSeconds ?? Number.NaN)
      return all.length > 0 && steps > 0 && took > 0 ? { ...point, secondsPerStep: took / steps } : point
    })
    const mean = last?.meanSecondsPerStep
    return {
      ...reading,
      points,
      figures: {
        ...reading.figures,
        // the window grows during the run, and steps with it: of a whole run, the mean is what another one takes
        ...(isDone && mean !== undefined && { secondsPerStep: { value: mean, line: last.line } }),
        ...(rows.size > 0 &&
          reading.figures.worldSize === undefined && {
            worldSize: derived('GPUs in the table of nvidia-smi', rows.size),
          }),
      },
    }
  },
}

/** OLMo, and OLMo-core, which names the same figures in other words. */
const olmo: LineFormat = {
  framework: 'olmo',
  unit: 'optimizer-step',
  report: /\[step=(?<step>\d+)\/(?<total>\d+),epoch=\d+/,
  additions: [
    /^\s*throughput\/total[_ ]tokens=(?<tokens>[\d,]+)/,
    /^\s*throughput\/device\/(?:batches_per_second|BPS)=(?<stepsPerSecond>[\d.]+)/,
    /^\s*gpu_memory\/GPU reserved mem \(GiB\)=(?<gib>[\d.]+)/,
  ],
  figures: [
    { figure: 'peakMemoryBytes', pattern: /^\s*System\/Peak GPU Memory \(MB\)=([\d,]+)/, scale: 1e6, largest: true },
  ],
  finished: /\bTraining complete\b/,
  evaluation: /\[eval_step=|Evaluation complete|^\s*eval\//,
}

/** Pretraining programs that write a line for each step. */
export const languageModels: readonly LogReader[] = [
  torchtitan,
  litgpt,
  nanogpt,
  buildNanogpt,
  llmC,
  moddedNanogpt,
  olmo,
].map(lineReader)

/** torchtune: a bar for each epoch, whose description holds epoch, step and loss; or lines in its log file. */
export const torchtune: LogReader = {
  name: 'torchtune',
  read: records =>
    readLines(
      {
        framework: 'torchtune',
        unit: 'optimizer-step',
        report:
          /(?<epoch>\d+)\|\d+\|Loss: [\d.naninf]+:?.*?(?<![\d.])(?<step>\d+)\/(?<total>\d+) \[(?<elapsed>[\d:]+)<(?:[\d:?]+), *(?:(?<stepsPerSecond>[\d.]+)it\/s|(?<seconds>[\d.]+)s\/it)/,
        perEpoch: true,
        firstEpoch: 1,
        figures: [
          { figure: 'epochsTotal', pattern: /^\s*epochs: (\d+)/ },
          { figure: 'microBatch', pattern: /^\s*batch_size: (\d+)/ },
          { figure: 'accumulation', pattern: /^\s*gradient_accumulation_steps: (\d+)/ },
        ],
        refine: reading => ({ ...reading, bars: true }),
      },
      records,
    ) ??
    readLines(
      {
        framework: 'torchtune',
        unit: 'optimizer-step',
        report:
          /^Step (?<step>\d+) \| loss:\S+.*?tokens_per_second_per_gpu:(?<tokensPerSecond>[\d.]+)(?:.*?peak_memory_reserved:(?<gib>[\d.]+))?/,
        ratesPerDevice: true,
      },
      records,
    ),
}
