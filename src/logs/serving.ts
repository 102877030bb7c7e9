import { parseClock } from './clock.ts'
import { derived, findFigures, parseNumber } from './figures.ts'
import { groupedBy } from './grouped.ts'
import type { Figure, LogReader, LogReading } from './log-reader.ts'
import type { LogRecord } from './records.ts'
import { median, quantile } from './steady-rate.ts'

interface Load {
  readonly record: LogRecord
  readonly engine: string
  readonly running: number
  readonly tokensPerSecond: number
}

/** Requests at once that are a steady load: this share of what was usual while it was busy. */
const steadyShare = 0.8

const serverWarnings: LogReading['warnings'] = [{ code: 'serving-no-end' }, { code: 'rate-depends-on-load' }]

/** vLLM: what it did in the last ten seconds. */
const vllm: LogReader = {
  name: 'vllm',
  read: records => {
    const loads = records.flatMap(record => {
      const match =
        /(?:Engine (\d+): )?Avg prompt throughput: [\d.]+ tokens\/s, Avg generation throughput: ([\d.]+) tokens\/s, Running: (\d+) reqs/.exec(
          record.text,
        )
      return match === null
        ? []
        : [
            {
              record,
              engine: `${match[1] ?? record.rank ?? ''}`,
              tokensPerSecond: Number(match[2]),
              running: Number(match[3]),
            },
          ]
    })
    const bench = records.flatMap(({ text, line }) => {
      const value = parseNumber(/Output token throughput \(tok\/s\):\s+([\d.]+)/.exec(text)?.[1])
      return value === undefined ? [] : [{ value, line }]
    })[0]
    const offline = records
      .flatMap(({ text, line }) => {
        const match = /Processed prompts: 100%.*?(\d+)\/(\d+) \[([\d:]+)<.*?output: ([\d.]+) toks\/s/.exec(text)
        return match === null ? [] : [{ line, value: Number(match[4]), elapsedSeconds: parseClock(match[3] ?? '') }]
      })
      .at(-1)
    if (loads.length === 0 && bench === undefined && offline === undefined) return undefined
    if (loads.length === 0) return benched(bench, offline, records)
    const parallel = findFigures(records, [{ figure: 'worldSize', pattern: /tensor_parallel_size=(\d+)/ }]).worldSize
    const stages = findFigures(records, [{ figure: 'worldSize', pattern: /pipeline_parallel_size=(\d+)/ }]).worldSize
    const replicas = findFigures(records, [{ figure: 'worldSize', pattern: /data_parallel_size=(\d+)/ }]).worldSize
    const world =
      parallel === undefined
        ? undefined
        : { ...parallel, value: parallel.value * (stages?.value ?? 1) * (replicas?.value ?? 1) }
    return server('vllm', records, loads, world, /Application startup complete|Uvicorn running on|Available routes are/)
  },
}

function benched(
  bench: Figure | undefined,
  offline: (Figure & { readonly elapsedSeconds: number | undefined }) | undefined,
  records: readonly LogRecord[],
): LogReading {
  const elapsed = findFigures(records, [
    { figure: 'elapsedSeconds', pattern: /Benchmark duration \(s\):\s+([\d.]+)/ },
  ]).elapsedSeconds
  const ofBar =
    offline?.elapsedSeconds === undefined ? undefined : { value: offline.elapsedSeconds, line: offline.line }
  const rate = bench ?? (offline === undefined ? undefined : { value: offline.value, line: offline.line })
  return {
    framework: 'vllm',
    unit: 'token',
    points: [],
    figures: { tokensPerSecond: rate, elapsedSeconds: elapsed ?? ofBar },
    finishedAtLine: bench?.line ?? offline?.line,
    warnings: [{ code: 'rate-depends-on-load' }],
  }
}

/** SGLang: a line for each batch that is decoded. */
const sglang: LogReader = {
  name: 'sglang',
  read: records => {
    const loads = records.flatMap(record => {
      const match = /Decode batch[.,].*?#running-req: (\d+),.*?gen throughput \(token\/s\): ([\d.]+)/.exec(record.text)
      const engine = /\bDP(\d+)\b/.exec(record.text)?.[1] ?? ''
      return match === null ? [] : [{ record, engine, running: Number(match[1]), tokensPerSecond: Number(match[2]) }]
    })
    if (loads.length === 0) return undefined
    const world = findFigures(records, [{ figure: 'worldSize', pattern: /\btp_size=(\d+)/ }]).worldSize
    return server(
      'sglang',
      records,
      loads,
      world,
      /The server is fired up and ready to roll|Uvicorn running on|Application startup complete/,
    )
  },
}

function server(
  framework: string,
  records: readonly LogRecord[],
  loads: readonly Load[],
  world: Figure | undefined,
  ready: RegExp,
): LogReading {
  const engines = [...groupedBy(loads, load => load.engine).values()].flatMap(each => steadyTokens(each) ?? [])
  const stamped = records.flatMap(({ timeSeconds, line }) => (timeSeconds === undefined ? [] : [{ timeSeconds, line }]))
  const [begin] = stamped
  const end = stamped.at(-1)
  const readyLine = records.find(({ text }) => ready.test(text))?.line
  const up = readyLine === undefined ? undefined : stamped.findLast(record => record.line <= readyLine)
  const total = engines.reduce((sum, one) => sum + one, 0)
  return {
    framework,
    unit: 'token',
    points: [],
    figures: {
      ...(engines.length > 0 && {
        tokensPerSecond: derived(engines.length > 1 ? 'steady load, engines added up' : 'steady load', total),
      }),
      ...(world !== undefined && { worldSize: world }),
      ...(begin !== undefined &&
        up !== undefined &&
        up.timeSeconds > begin.timeSeconds && {
          startedToFirstStepSeconds: derived(
            'first time stamp to the start of the server',
            up.timeSeconds - begin.timeSeconds,
          ),
        }),
      ...(begin !== undefined &&
        end !== undefined &&
        end.timeSeconds > begin.timeSeconds && {
          elapsedSeconds: derived('first to last time stamp', end.timeSeconds - begin.timeSeconds),
        }),
    },
    ...(serverWarnings !== undefined && { warnings: serverWarnings }),
  }
}

/** Generated tokens per second while the usual number of requests ran: neither idle nor filling up nor running out. */
function steadyTokens(loads: readonly Load[]): number | undefined {
  const busy = loads.filter(load => load.running > 0 && load.tokensPerSecond > 0)
  const usual = median(busy.map(load => load.running))
  const steady = busy.filter(load => load.running >= steadyShare * usual)
  const level = median(steady.map(load => load.tokensPerSecond))
  // prompts that fill the queue hold generation up
  const kept = steady.filter(
    load =>
      load.tokensPerSecond >= level / 2 &&
      load.tokensPerSecond <=
        quantile(
          steady.map(one => one.tokensPerSecond),
          1,
        ),
  )
  return kept.length === 0 ? undefined : kept.reduce((sum, load) => sum + load.tokensPerSecond, 0) / kept.length
}

/** llama.cpp: timings of a request. */
const llamaCpp: LogReader = {
  name: 'llama.cpp',
  read: records => {
    const timings = records.flatMap(({ text, line }) => {
      const match =
        /(?<!prompt )\beval time =\s*([\d.]+) ms \/\s*(\d+) (?:runs|tokens)\s+\(\s*([\d.]+) ms per token,\s*([\d.]+) tokens per second\)/.exec(
          text,
        )
      return match === null
        ? []
        : [
            {
              line,
              milliseconds: Number(match[1]),
              count: Number(match[2]),
              msPerToken: Number(match[3]),
              perSecond: Number(match[4]),
            },
          ]
    })
    const last = timings.at(-1)
    if (last === undefined) return undefined
    const isServer = records.some(({ text }) =>
      /server (?:is )?listening|slot (?:launch|release|print_timing)|HTTP server/.test(text),
    )
    const figures = findFigures(records, [
      { figure: 'startedToFirstStepSeconds', pattern: /\bload time =\s*([\d.]+) ms/, scale: 0.001 },
      { figure: 'elapsedSeconds', pattern: /\btotal time =\s*([\d.]+) ms/, scale: 0.001 },
    ])
    const devices = new Set(
      records.flatMap(({ text }) =>
        [...text.matchAll(/\busing device (?:CUDA|ROCm|Vulkan|SYCL)(\d+)/g)].map(([, device]) => device),
      ),
    )
    const perSecond = median(timings.map(timing => timing.perSecond))
    return {
      framework: 'llama.cpp',
      unit: 'token',
      points: isServer ? [] : [{ line: last.line, step: last.count }],
      figures: {
        ...(!isServer && figures),
        tokensPerSecond:
          timings.length === 1 ? { value: perSecond, line: last.line } : derived('median of the requests', perSecond),
        secondsPerStep:
          timings.length === 1
            ? { value: last.msPerToken / 1000, line: last.line }
            : derived('median of the requests', 1 / perSecond),
        ...(devices.size > 0 && { worldSize: derived('devices in use', devices.size) }),
      },
      finishedAtLine: isServer ? undefined : last.line,
      warnings: [
        ...(isServer
          ? [{ code: 'serving-no-end' as const }, { code: 'per-request-rate-only' as const }]
          : [{ code: 'several-rates' as const, text: 'generation is given; prompts are read at another rate' }]),
        ...(timings.reduce((sum, timing) => sum + timing.milliseconds, 0) < 30_000
          ? [{ code: 'short-sample' as const }]
          : []),
      ],
    }
  },
}

/** TGI: what each request took. */
const textGenerationInference: LogReader = {
  name: 'text-generation-inference',
  read: records => {
    const times = records.flatMap(({ text }) => {
      const match = /\btime_per_token="([\d.]+)(ms|s|µs)"/.exec(text)
      return match === null ? [] : [Number(match[1]) * ({ ms: 1e-3, s: 1 }[match[2] ?? ''] ?? 1e-6)]
    })
    if (times.length === 0) return undefined
    return {
      framework: 'text-generation-inference',
      unit: 'other',
      points: [],
      figures: {},
      warnings: [
        { code: 'serving-no-end' },
        {
          code: 'per-request-rate-only',
          text: `a request gets a token in ${median(times).toPrecision(3)} s; how many the GPU makes for all is not in the file`,
        },
      ],
    }
  },
}

/** Servers of language models. */
export const serving: readonly LogReader[] = [vllm, sglang, llamaCpp, textGenerationInference]
