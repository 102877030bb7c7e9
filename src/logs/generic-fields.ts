import { parseClock, parseLength } from './clock.ts'
import { parseNumber } from './figures.ts'
import type { ProgressPoint } from './log-reader.ts'

/** Figures that a record of any program states beside its counter. */
export interface Fields {
  readonly secondsPerStep?: number
  /** Seconds of which nobody says what they are for: since the last report, of a step, or since the start. */
  readonly seconds?: number
  readonly samplesPerSecond?: number
  readonly tokensPerSecond?: number
  readonly perDevice?: boolean
  readonly elapsedSeconds?: number
  readonly remainingSeconds?: number
  readonly memoryBytes?: number
  readonly dataSeconds?: number
  readonly samplesSeen?: number
  readonly tokensSeen?: number
}

const number = String.raw`(\d[\d,]*\.?\d*(?:e[+-]?\d+)?)`
const step = `(?:it|iter|iters|iteration|iterations|step|steps|batch|batches|update|updates)`
const sample = `(?:samples?|images?|imgs?|examples?|ex|seqs?|sequences?|sentences?|sents?|frames?|clips?|videos?|graphs?|items?|records?|rows|instances?|pairs?)`
const token = `(?:tokens?|toks?|words?|wps)`
const perSecond = String.raw`\s?(?:\/\s?s(?:ec(?:ond)?)?\b|_?per_?s(?:ec(?:onds?)?)?\b|\s?per\s+sec(?:ond)?\b)`
const between = String.raw`["']?\s*[:=]?\s*["']?`
const clock = String.raw`((?:\d+ days?,? )?\d+:\d{2}(?::\d{2})?(?:\.\d+)?)`
const duration = String.raw`((?:\d+(?:\.\d+)?\s?(?:d|h|hrs?|hours?|m|min|mins|minutes?|s|sec|secs|seconds?|ms)(?![a-z])[ ,:]{0,2}(?:and )?)+)`

function pattern(text: string): RegExp {
  return new RegExp(text, 'i')
}

const timeOfStep: readonly RegExp[] = [
  pattern(String.raw`\btime[_ ]per[_ ]${step}\s*\((ms|s|secs?|seconds)\)${between}${number}`),
  // value and running mean, as AverageMeter of PyTorch's examples prints a batch
  pattern(String.raw`\b(?:batch[_ ])?time:?\s+${number}(s?)\s*\(\s*\d+\.\d+s?\s*[,)]`),
  pattern(
    String.raw`(?<![\w.])${number}\s?(ms|s|secs?|seconds?|millis(?:econds)?)\s?(?:\/|per)\s?(?:train(?:ing)?[_ ])?${step}\b`,
  ),
  pattern(
    String.raw`(?<![\w])(?:train(?:ing)?[_ /-]?)?${step}[_ ./-]?(?:time|duration|timing|cost|dt)(?:[_ ]?\(?(?:in )?(ms|s|secs?|seconds)\)?)?${between}${number}\s?(ms|s|secs?|seconds)?\b`,
  ),
  pattern(
    String.raw`\b(?:avg[_ ]?|mean[_ ]?)?(?:time|sec|secs|seconds|(ms))(?:\/|[_ ]per[_ ])${step}${between}(\d[\d,]*(?:\.\d+|(?=\s?m?s\b)))\s?(ms|s|secs?|seconds)?\b`,
  ),
  pattern(String.raw`\b(?:dt|batch_cost|step_s|iter_s)${between}${number}\s?(ms|s|secs?|seconds)?\b`),
]
const stepsPerSecond: readonly RegExp[] = [
  pattern(String.raw`(?<![\w.])${number}\s?${step}${perSecond}`),
  pattern(String.raw`\b${step}${perSecond}${between}${number}`),
  pattern(String.raw`\bSPS${between}${number}`),
]
const samplesPerSecond: readonly RegExp[] = [
  pattern(String.raw`(?<![\w.])${number}\s?${sample}${perSecond}`),
  pattern(String.raw`\b${sample}${perSecond}(?:\s?\/\s?(?:gpu|device))?${between}${number}`),
]
const tokensPerSecond: readonly RegExp[] = [
  pattern(String.raw`(?<![\w.])([\d][\d,]*\.?\d*[kM]?)\s?${token}${perSecond}`),
  pattern(
    String.raw`\b${token}${perSecond}(?:\s?\/\s?(?:gpu|device)|[_ ]per[_ ](?:gpu|device))?${between}([\d][\d,]*\.?\d*[kM]?)`,
  ),
]
const ofDevice = /(?:\/|per[_ ]?)(?:gpu|device|chip)\b/i
const plainTime: readonly RegExp[] = [
  pattern(
    String.raw`(?<![\w/])(?:time|took|elapsed|duration|cost|epoch[_ ]time|in|use[sd]?|runtime)(?:[_ ]?\((?:s|sec|seconds)\))?${between}${clock}(?![\d:])`,
  ),
  pattern(
    String.raw`(?<![\w/])(?:time|took|elapsed|duration|cost|epoch[_ ]time|in|use[sd]?|runtime)(?: taken| cost| used)?(?:[_ ]?\((?:s|sec|seconds)\))?${between}${duration}`,
  ),
  pattern(
    String.raw`(?<![\w/])(?:time|epoch[_ ]time|runtime|elapsed)(?:[_ ]?\((?:s|sec|seconds)\)|_s(?:ec(?:onds)?)?)?\s*["']?[:=]\s*["']?(\d+\.\d+)(?![\d:.]|\s?ms)`,
  ),
  pattern(String.raw`(?<![\w/])sec(?:ond)?s?\s*[:=]\s*(\d+\.\d+)(?![\d:.])`),
  pattern(String.raw`[,|]\s*(\d+(?:\.\d+)?\s?ms)\b(?!\s?/)`),
  pattern(String.raw`(?:[[(]|[-|,]\s)\s*(\d+(?:\.\d+)?\s?s(?:ec(?:onds)?)?)[\])]?\s*$`),
]
const elapsed: readonly RegExp[] = [
  pattern(String.raw`(?<![\w:.])${clock}\s+elapsed\b`),
  // a time of day would have two digits for its hours
  pattern(String.raw`^\s*[[(](\d:\d{2}:\d{2}(?:\.\d+)?)[\])]`),
  pattern(
    String.raw`\b(?:elapsed[_ ]time|time[_ ]elapsed|elapsed|wall(?:[_ ]?(?:time|clock))?|total[_ ](?:time|elapsed)|time[_ ]so[_ ]far)${between}${clock}`,
  ),
  pattern(
    String.raw`\b(?:elapsed[_ ]time|time[_ ]elapsed|wall(?:[_ ]?(?:time|clock))?|total[_ ](?:time|elapsed))(?:[_ ]?\((?:s|sec)\))?${between}${duration}`,
  ),
  pattern(
    String.raw`\b(?:elapsed[_ ]time|time[_ ]elapsed|time_total_s|wall(?:[_ ]?(?:time|clock))?|total[_ ](?:time|elapsed))(?:[_ ]?\((?:s|sec)\))?${between}(\d+(?:\.\d+)?)(?![\d:.])`,
  ),
]
const remaining: readonly RegExp[] = [
  pattern(String.raw`(?<![\w:.])${clock}\s+(?:remaining|left)\b`),
  pattern(String.raw`\b(?:eta|remaining(?:[_ ]time)?|time[_ ](?:left|remaining)|left)${between}${clock}`),
  pattern(String.raw`\b(?:eta|remaining(?:[_ ]time)?|time[_ ](?:left|remaining))${between}${duration}`),
]
const memory =
  /\b(?:max[_ ]?|peak[_ ]?|gpu[_ ]?)*(?:mem(?:ory)?|vram)(?:[_ ]?(?:usage|used|allocated|alloc|reserved))?\b["']?\s*(?:\((MiB|GiB|MB|GB|M|G)\))?\s*[:=]?\s*["']?(\d[\d,]*\.?\d*)\s?(MiB|GiB|MB|GB|M|G|bytes)?\b/i
/** The logger of torchvision's references, which many programs took over, names no unit: it is megabytes. */
const metricLoggerMemory = /\bmax mem: \d+\s*$/
const data = pattern(
  String.raw`\b(?:data(?:[_ ]?(?:time|load(?:ing)?(?:[_ ]time)?|cost|wait))?|reader[_ ]cost|load[_ ]time)(?:[_ ]?\((?:ms|s)\))?${between}${number}\s?(ms|s|secs?)?\b`,
)

/** Totals since the start, where they rise with the counter. */
const seen = (names: string) =>
  pattern(String.raw`(?<![\w/])["']?(?:${names})["']?\s*[:=]\s*["']?(\d[\d,]*)(?![\w.%/])`)
const tokensSeen = seen('(?:total|num|consumed|train)?[_ ]?tokens(?:[_ ](?:seen|processed|so[_ ]far))?')
const samplesSeen = seen('(?:consumed|total)[_ ]?(?:train[_ ])?samples|samples[_ ](?:seen|processed)')

function firstOf(text: string, patterns: readonly RegExp[]): RegExpExecArray | undefined {
  for (const each of patterns) {
    const match = each.exec(text)
    if (match !== null) return match
  }
  return undefined
}

function seconds(amount: string | undefined, unit: string | undefined): number | undefined {
  const value = parseNumber(amount)
  return value === undefined ? undefined : /^m(?:s|illi)/i.test(unit ?? '') ? value / 1000 : value
}

/** The figures of a record, by the names and units that programs give them. */
export function fieldsOf(text: string): Fields {
  const found: { -readonly [K in keyof Fields]: Fields[K] } = {}
  const put = (key: Exclude<keyof Fields, 'perDevice'>, value: number | undefined) => {
    if (value !== undefined && Number.isFinite(value) && value >= 0) found[key] = value
  }
  const ofStep = firstOf(text, timeOfStep)
  if (ofStep !== undefined) {
    const [amount, unit] = amountAndUnit(ofStep.slice(1))
    put('secondsPerStep', seconds(amount, unit))
  }
  const rate = parseNumber(firstOf(text, stepsPerSecond)?.[1])
  if (found.secondsPerStep === undefined && rate !== undefined && rate > 0) put('secondsPerStep', 1 / rate)
  const samples = firstOf(text, samplesPerSecond)
  put('samplesPerSecond', parseNumber(samples?.[1]))
  const tokens = firstOf(text, tokensPerSecond)
  put('tokensPerSecond', parseNumber(tokens?.[1]))
  const rated = samples ?? tokens
  if (
    rated !== undefined &&
    ofDevice.test(text.slice(Math.max(0, rated.index - 12), rated.index + rated[0].length + 14))
  )
    found.perDevice = true
  const whole = firstOf(text, elapsed)?.[1]
  if (whole !== undefined) put('elapsedSeconds', lengthOf(whole))
  const plain = firstOf(text, plainTime)?.[1]
  if (plain !== undefined) put('seconds', lengthOf(plain))
  const left = firstOf(text, remaining)?.[1]
  if (left !== undefined) put('remainingSeconds', lengthOf(left))
  const held = memory.exec(text)
  const unit = held?.[3] ?? held?.[1] ?? (metricLoggerMemory.test(text) ? 'MB' : undefined)
  if (held !== null && unit !== undefined) put('memoryBytes', (parseNumber(held[2]) ?? Number.NaN) * bytesOf(unit))
  const waited = data.exec(text)
  if (waited !== null && (waited[2] !== undefined || /\./.test(waited[1] ?? '')))
    put('dataSeconds', seconds(waited[1], waited[2]))
  put('tokensSeen', parseNumber(tokensSeen.exec(text)?.[1]))
  put('samplesSeen', parseNumber(samplesSeen.exec(text)?.[1]))
  // who prints the wait for data beside a time prints both of a step
  if (found.dataSeconds !== undefined && found.secondsPerStep === undefined && found.seconds !== undefined) {
    put('secondsPerStep', found.seconds)
  }
  return found
}

/** Groups hold the amount, and the unit before or behind it. */
function amountAndUnit(groups: readonly (string | undefined)[]): [string | undefined, string | undefined] {
  const amount = groups.find(group => group !== undefined && /^\d/.test(group))
  return [amount, groups.find(group => group !== undefined && !/^\d/.test(group))]
}

function lengthOf(text: string): number | undefined {
  return parseClock(text) ?? parseLength(text) ?? parseNumber(text)
}

/** GB and MB in logs mostly mean GiB and MiB: PyTorch divides by 1024. */
function bytesOf(unit: string): number {
  if (/^b/i.test(unit)) return 1
  return /^g/i.test(unit) ? 2 ** 30 : 2 ** 20
}

/** What fields say of a point. */
export function pointFields({
  secondsPerStep,
  samplesPerSecond: samples,
  tokensPerSecond: tokens,
  elapsedSeconds,
  remainingSeconds,
  memoryBytes,
  dataSeconds,
}: Fields): Partial<ProgressPoint> {
  return {
    secondsPerStep,
    samplesPerSecond: samples,
    tokensPerSecond: tokens,
    elapsedSeconds,
    remainingSeconds,
    memoryBytes,
    dataSeconds,
  }
}
