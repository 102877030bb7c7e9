import { parseLength } from './clock.ts'
import { derived, parseNumber } from './figures.ts'
import { groupedBy } from './grouped.ts'
import type { LogReader, ProgressPoint } from './log-reader.ts'
import type { LogRecord } from './records.ts'

interface Sample {
  readonly record: LogRecord
  readonly gpu: string
  readonly utilisation: number | undefined
  readonly memoryBytes: number | undefined
}

/** A GPU counts as busy from this share of the time, in percent. */
const busyPercent = 10
/** Mean utilisation while the job ran below which a GPU was mostly idle, in percent. */
const underUsedPercent = 50

/** nvidia-smi --query-gpu: samples of utilisation, no progress. */
export const nvidiaSmi: LogReader = {
  name: 'nvidia-smi',
  read: records => {
    const samples = samplesOf(records)
    if (samples.length === 0) return undefined
    const gpus = [...groupedBy(samples, sample => sample.gpu).values()]
    const busyLines = samples.filter(({ utilisation = 0 }) => utilisation >= busyPercent)
    const begin = samples.find(({ record }) => record.timeSeconds !== undefined)?.record.timeSeconds
    const end = samples.findLast(({ record }) => record.timeSeconds !== undefined)?.record.timeSeconds
    const firstBusy = busyLines[0]?.record
    const lastBusy = busyLines.at(-1)?.record
    const peak = samples.reduce(
      (most, { memoryBytes = 0, record }) =>
        memoryBytes > most.value ? { value: memoryBytes, line: record.line } : most,
      { value: 0, line: 0 },
    )
    const idle = gpus.filter(each => {
      const during = each.filter(
        ({ record }) =>
          firstBusy !== undefined &&
          lastBusy !== undefined &&
          record.line >= firstBusy.line &&
          record.line <= lastBusy.line,
      )
      const used = during.flatMap(sample => sample.utilisation ?? [])
      return used.length > 0 && used.reduce((sum, one) => sum + one, 0) / used.length < underUsedPercent
    })
    return {
      framework: 'nvidia-smi',
      unit: 'none',
      points: [],
      figures: {
        worldSize: derived('GPUs sampled', gpus.length),
        ...(peak.value > 0 && { peakMemoryBytes: peak }),
        ...(begin !== undefined &&
          end !== undefined &&
          end > begin && { elapsedSeconds: derived('first to last sample', end - begin) }),
        ...(begin !== undefined &&
          firstBusy?.timeSeconds !== undefined &&
          firstBusy.timeSeconds > begin && {
            startedToFirstStepSeconds: derived('first sample to the first busy one', firstBusy.timeSeconds - begin),
          }),
      },
      warnings: [
        { code: 'no-progress-counter' },
        ...(idle.length > 0
          ? [
              {
                code: 'gpu-under-used' as const,
                text: `GPU ${idle.map(each => each[0]?.gpu).join(', ')} was idle most of the time`,
              },
            ]
          : []),
      ],
    }
  },
}

function samplesOf(records: readonly LogRecord[]): readonly Sample[] {
  let columns: readonly string[] | undefined
  const samples: Sample[] = []
  for (const record of records) {
    // the stamp was taken off the front, with the comma left
    const cells = record.text.split(',').map(cell => cell.trim())
    if (/\butilization\.gpu\b/.test(record.text) && cells.length > 2) {
      columns = cells
      continue
    }
    if (columns === undefined) continue
    const offset = columns.length - cells.length
    const at = (name: RegExp) => cells[(columns ?? []).findIndex(column => name.test(column)) - offset]
    const utilisation = parseNumber(at(/^utilization\.gpu/)?.replace('%', ''))
    const memory = parseNumber(at(/^memory\.used/)?.replace(/MiB/, ''))
    if (utilisation === undefined && memory === undefined) continue
    samples.push({
      record,
      gpu: at(/^(?:index|uuid|gpu_bus_id|pci\.bus_id)/) ?? '0',
      utilisation,
      memoryBytes: memory === undefined ? undefined : memory * 2 ** 20,
    })
  }
  return samples
}

/** dcgmi dmon and nvidia-smi dmon: columns under a header that begins with #. */
export const deviceMonitor: LogReader = {
  name: 'dcgm',
  read: records => {
    const header = records.find(({ text }) => /^#\s?(?:Entity|gpu)\s+\w+/.test(text))
    if (header === undefined) return undefined
    const columns = header.text.replace(/^#\s*/, '').trim().split(/\s+/)
    const rows = records.flatMap(record => {
      const match = /^\s*(?:GPU )?(\d+)\s+(.*)$/.exec(record.text)
      return match === null ? [] : [{ record, gpu: match[1] ?? '', cells: (match[2] ?? '').trim().split(/\s+/) }]
    })
    const of = (cells: readonly string[], name: RegExp) =>
      parseNumber(cells[columns.findIndex(column => name.test(column)) - 1])
    if (rows.length === 0) return undefined
    const gpus = groupedBy(rows, row => row.gpu)
    const activity = [...gpus.values()].map(each =>
      mean(each.flatMap(({ cells }) => of(cells, /^SMACT$/) ?? (of(cells, /^(?:GPUTL|sm)$/) ?? Number.NaN) / 100)),
    )
    const memory = Math.max(...rows.flatMap(({ cells }) => of(cells, /^(?:FBUSD|fb)$/) ?? []))
    return {
      framework: /Entity/.test(header.text) ? 'dcgm' : 'nvidia-smi',
      unit: 'none',
      points: [],
      figures: {
        worldSize: derived('GPUs sampled', gpus.size),
        peakMemoryBytes: derived('largest sample', memory * 2 ** 20),
      },
      warnings: [
        { code: 'no-progress-counter' },
        ...(activity.some(one => one < underUsedPercent / 100) ? [{ code: 'gpu-under-used' as const }] : []),
      ],
    }
  },
}

function mean(values: readonly number[]): number {
  const known = values.filter(Number.isFinite)
  return known.reduce((sum, one) => sum + one, 0) / known.length
}

/** wandb's summary at the end: names and last values, for programs that print nothing else. */
export const wandb: LogReader = {
  name: 'wandb',
  read: records => {
    const start = records.findIndex(({ text }) => /^wandb:\s+Run summary:/.test(text))
    if (start < 0) return undefined
    const rows = records.slice(start + 1).flatMap(({ text, line }) => {
      const match = /^wandb:\s+(\S+)\s+(-?[\d.]+(?:e[+-]?\d+)?)\s*$/.exec(text)
      return match === null ? [] : [{ name: match[1] ?? '', value: Number(match[2]), line }]
    })
    const find = (name: RegExp) => rows.find(row => name.test(row.name))
    const step = find(/(?:^|\/)(?:global_step|_step|step|iter|iteration)$/)
    const samples = find(/(?:^|\/)samples_per_sec(?:ond)?$/)
    const batch = find(/(?:^|\/)(?:global_)?batch_size$/)
    const epoch = find(/(?:^|\/)epoch$/)
    const runtime = find(/(?:^|\/)_?runtime$/)
    const wall = records.flatMap(({ text, line }) => {
      const value = parseLength(/Elapsed \(wall clock\) time \(h:mm:ss or m:ss\): (\S+)/.exec(text)?.[1] ?? '')
      return value === undefined ? [] : [{ value, line }]
    })[0]
    const elapsed = wall ?? runtime
    const finished = records.findLast(({ text }) => /^\s*Exit status: 0|^wandb: (?:Synced|.*View run)/.test(text))
    const points: readonly ProgressPoint[] = step === undefined ? [] : [{ line: step.line, step: step.value }]
    const perStep =
      samples !== undefined && batch !== undefined
        ? derived('batch over samples per second', batch.value / samples.value)
        : elapsed !== undefined && step !== undefined
          ? derived('whole time over all steps', elapsed.value / step.value)
          : undefined
    return {
      framework: 'wandb',
      unit: step === undefined ? 'none' : 'other',
      points,
      figures: {
        ...(perStep !== undefined && { secondsPerStep: perStep }),
        ...(samples !== undefined && { samplesPerSecond: samples }),
        ...(elapsed !== undefined && { elapsedSeconds: elapsed }),
        ...(epoch !== undefined && Number.isInteger(epoch.value) && { epochsDone: epoch }),
        ...(step !== undefined &&
          finished !== undefined && { stepsTotal: derived('the last step of a run that ended well', step.value) }),
      },
      finishedAtLine: finished?.line,
      warnings: step === undefined ? [] : [{ code: 'counter-unit-unknown' }],
    }
  },
}
