import type { QuotedFigures } from './quote-record.ts'

/** Longest text, in characters, that sites' accounting keeps without trouble. */
const longest = 200

const bases = ['history', 'measured', 'declared', 'model', 'limit'] as const

/**
 * A short text for `--comment` or an annotation: `gpufare:1;k=…;p10=…;p50=…;p90=…;usd=…;hr=…;basis=model;v=0.1.0`, seconds and
 * US dollars. The first number is raised when a reader of the old form would misread the new one.
 */
export function stampOf(quote: QuotedFigures, version: string): string {
  const { runtimeSeconds: seconds, usd } = quote
  const parts: readonly (readonly [string, string | undefined])[] = [
    ['k', quote.key],
    ['p10', seconds && whole(seconds.p10)],
    ['p50', seconds && whole(seconds.p50)],
    ['p90', seconds && whole(seconds.p90)],
    ['max', maybe(quote.runtimeUpperBoundSeconds, whole)],
    ['usd', usd && [usd.p10, usd.p50, usd.p90].map(figure).join('/')],
    ['maxusd', maybe(quote.upperBoundUsd, figure)],
    ['hr', maybe(quote.usdPerTaskHour, figure)],
    ['g', quote.billedGpus === quote.gpus ? String(quote.gpus) : `${quote.gpus}/${quote.billedGpus}`],
    ['f', quote.fingerprint],
    ['est', maybe(quote.estimatedSeconds, whole)],
    ['n', quote.tasks === 1 ? undefined : String(quote.tasks)],
    ['basis', quote.basis],
    ['v', version],
    // The least needed stands last: it is left out where there is no room.
    ['gpu', quote.gpuModel.replace(/[^\w .+-]/g, '').replaceAll(' ', '_') || undefined],
  ]
  let text = 'gpufare:1'
  for (const [key, value] of parts) {
    const more = value === undefined ? '' : `;${key}=${value}`
    if (text.length + more.length < longest) text += more
  }
  return text
}

/** The stamp in a comment or an annotation; undefined where there is none that can be read. */
export function readStamp(text: string): QuotedFigures | undefined {
  const [, body] = /(?:^|[\s"'])gpufare:1;([^\s"']+)/.exec(text) ?? []
  if (body === undefined) return undefined
  const cells = new Map(
    body.split(';').map(part => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)] as const),
  )
  const key = cells.get('k') ?? ''
  if (!/^[0-9a-f]+$/.test(key)) return undefined
  const numberOf = (name: string) => numberIn(cells.get(name))
  const [gpus = 0, billedGpus = gpus] = (cells.get('g') ?? '').split('/').map(cell => numberIn(cell) ?? 0)
  const basis = bases.find(each => each === cells.get('basis'))
  const seconds = rangeOf([numberOf('p10'), numberOf('p50'), numberOf('p90')])
  const usd = rangeOf((cells.get('usd') ?? '').split('/').map(numberIn))
  const most = numberOf('max')
  const mostUsd = numberOf('maxusd')
  const rate = numberOf('hr')
  const estimate = numberOf('est')
  const fingerprint = /^[0-9a-f]+$/.exec(cells.get('f') ?? '')?.[0]
  return {
    key,
    ...(basis !== undefined && { basis }),
    ...(seconds !== undefined && { runtimeSeconds: seconds }),
    ...(estimate !== undefined && { estimatedSeconds: estimate }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(most !== undefined && { runtimeUpperBoundSeconds: most }),
    ...(usd !== undefined && { usd }),
    ...(mostUsd !== undefined && { upperBoundUsd: mostUsd }),
    ...(rate !== undefined && { usdPerTaskHour: rate }),
    gpus,
    billedGpus,
    tasks: numberOf('n') ?? 1,
    gpuModel: (cells.get('gpu') ?? '').replaceAll('_', ' '),
  }
}

function rangeOf([p10, p50, p90]: readonly (number | undefined)[]) {
  return p10 === undefined || p50 === undefined || p90 === undefined ? undefined : { p10, p50, p90 }
}

function numberIn(text: string | undefined): number | undefined {
  const value = text === undefined || text === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}

function maybe(value: number | undefined, write: (value: number) => string): string | undefined {
  return value === undefined ? undefined : write(value)
}

function whole(value: number): string {
  return String(Math.round(value))
}

/** Six figures are finer than any quote. */
function figure(value: number): string {
  return String(Number(value.toPrecision(6)))
}
