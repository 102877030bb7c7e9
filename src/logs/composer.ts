import { bytesPerGib, bytesPerGigabyte, secondsPerHour } from '../units.ts'
import { findFigures, parseNumber } from './figures.ts'
import type { LogReader, ProgressPoint } from './log-reader.ts'
import type { LogRecord } from './records.ts'

const header = /^\s*\[(?:epoch=(\d+)(?:\/\d+)?\]\[)?batch=(\d+)\/(\d+)\]:?/
const value = /^\s*Train (\S+): (-?[\d.e+-]+)/

/** Composer and llm-foundry: a block for each report. */
export const composer: LogReader = {
  name: 'composer',
  read: records => {
    const points: ProgressPoint[] = []
    let block: Map<string, number> | undefined
    for (const record of records) {
      const head = header.exec(record.text)
      if (head !== null) {
        block = new Map()
        points.push({
          line: record.line,
          timeSeconds: record.timeSeconds,
          step: Number(head[2]),
          total: Number(head[3]),
        })
      }
      const line = value.exec(record.text)
      const last = points.at(-1)
      if (line === null || block === undefined || last === undefined) continue
      block.set(line[1] ?? '', parseNumber(line[2]) ?? Number.NaN)
      points[points.length - 1] = { ...last, ...figuresOf(block) }
    }
    if (points.length === 0) return undefined
    const figures = findFigures(records, [])
    const world = worldOf(records)
    return {
      framework: 'composer',
      unit: 'optimizer-step',
      points: inSeconds(points),
      figures: { ...figures, ...(world !== undefined && { worldSize: world }) },
      evaluatedAtLine: records
        .filter(({ text }) => /^\s*Eval metrics\/|\[eval batch=/.test(text))
        .map(({ line }) => line),
    }
  },
}

function figuresOf(block: ReadonlyMap<string, number>): Partial<ProgressPoint> {
  const seconds = block.get('throughput/batches_per_sec')
  const memory = block.get('memory/peak_reserved_mem') ?? block.get('memory/peak_allocated_mem')
  return {
    secondsPerStep: seconds === undefined || seconds === 0 ? undefined : 1 / seconds,
    samplesPerSecond: block.get('throughput/samples_per_sec'),
    tokensPerSecond: block.get('throughput/tokens_per_sec'),
    samplesSeen: block.get('time/sample'),
    tokensSeen: block.get('time/token'),
    elapsedSeconds: block.get('time/total') ?? block.get('wall_clock/total'),
    remainingSeconds: block.get('time/remaining_estimate'),
    memoryBytes: memoryBytes(block, memory),
  }
}

/** Decimal gigabytes; bytes in old versions. */
function memoryBytes(block: ReadonlyMap<string, number>, memory: number | undefined): number | undefined {
  const allocated = block.get('memory/peak_allocated_mem')
  const shown = allocated ?? memory
  return shown === undefined ? undefined : shown > bytesPerGib / 16 ? shown : shown * bytesPerGigabyte
}

/** Clocks are in hours, in seconds in old versions: batches per second tell which. */
function inSeconds(points: readonly ProgressPoint[]): readonly ProgressPoint[] {
  const [first] = points
  const last = points.at(-1)
  if (first === undefined || last === undefined) return points
  const span = (last.elapsedSeconds ?? 0) - (first.elapsedSeconds ?? 0)
  const stated = points.flatMap(point => point.secondsPerStep ?? []).at(-1)
  const steps = last.step - first.step
  const areSeconds = stated !== undefined && span > 0.5 * stated * steps
  if (areSeconds) return points
  const hours = (amount: number | undefined) => (amount === undefined ? undefined : amount * secondsPerHour)
  return points.map(point => ({
    ...point,
    elapsedSeconds: hours(point.elapsedSeconds),
    remainingSeconds: hours(point.remainingSeconds),
  }))
}

function worldOf(records: readonly LogRecord[]) {
  const { worldSize: nodes } = findFigures(records, [{ figure: 'worldSize', pattern: /^\s*num_nodes: (\d+)/ }])
  const { worldSize: each } = findFigures(records, [{ figure: 'worldSize', pattern: /^\s*num_gpus_per_node: (\d+)/ }])
  if (nodes === undefined || each === undefined) return undefined
  return { value: nodes.value * each.value, formula: 'nodes times GPUs of a node' }
}
