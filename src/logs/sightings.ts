import { endsOf, type LogRecord } from './records.ts'

/** A number in a record that may be a counter. */
export interface Sighting {
  readonly record: LogRecord
  readonly label: string
  /** What stands before it, without its numbers: a report looks like the one before. */
  readonly before: string
  readonly at: number
  readonly total?: number
}

const counterWords =
  'global[_ ]?step|current[_ ]step|train(?:ing)?[_ ]step|optimi[sz]er[_ ]step|step|iteration|iter|it|batch|num_updates|updates?|mini-?batch|episode|round|generation|gen|timesteps?|total_steps|frame|trial|ionic step|cycle|sample|i'
const labelledBy = (words: string) =>
  new RegExp(
    String.raw`(?<![\w.])["']?(?<label>${words})s?["']?\s*(?:no\.?|number|num|#)?\s*[:=#]?\s*[[(]?\s*["']?(?<at>\d[\d,]*)["']?(?![\w.%]|\.\d|\s*,\s*\d+\s*[\])])(?:\s*(?:\/|of|out of)\s*(?<total>\d[\d,]*)(?![\w.]|\.\d))?`,
    'gi',
  )
const everyLabel = labelledBy(`${counterWords}|epochs?|ep`)
const noLabel = /(?!)/g
const pairs =
  /(?<![\w./:-])[[(]?\s*(?<at>\d{1,3}(?:,\d{3})+|\d{1,9})\s?\/\s?(?<total>\d{1,3}(?:,\d{3})+|\d{1,9})(?![\w./-]|:\d|\.\d|,\d{3})(?<samples>\s(?:samples|images|examples|particles|sentences|sequences)\b)?/g

/** Lines that count something else: evaluation, files, downloads, installers; a loss of the evaluation also stands in reports of epochs. */
export const otherCounts =
  /\b(?:download|install|collecting|building|compiling|loading|loaded|saving|saved|writing|checkpoint(?:s|ing)? (?:at|to|saved)|(?:valid(?:ation|ating)?|eval(?:uation|uating)?|test(?:ing)?)\b(?! (?:time|loss|acc(?:uracy)?|error|ppl|perplexity|score|auc|f1|r2|rmse|mae|mse|top1|metric)\b)|val_iter|predict|inference on|tokeniz|preprocess|caching|number of|num_\w+|params?\b|parameters? ?[:=]? ?\d|\d ?[KMB]? parameters?\b|shard|https?:|warmup[_ ]steps|total[_ ]steps ?[=:])/i

/** Every number that may be a counter, by its name or its total. Names are those at either end of the log. */
export function sightingsOf(records: readonly LogRecord[]): readonly Sighting[] {
  const names = new Set(
    endsOf(records).flatMap(({ text }) =>
      [...text.matchAll(everyLabel)].map(({ groups }) => groups?.['label']?.toLowerCase() ?? ''),
    ),
  )
  const labelled = names.size === 0 ? noLabel : labelledBy([...names].join('|'))
  return records.flatMap(record => sightingsIn(record, labelled))
}

function sightingsIn(record: LogRecord, labelled: RegExp): readonly Sighting[] {
  const { text } = record
  if (text.length > 4000 || otherCounts.test(text.slice(0, 160)) || /\d\s*%\|/.test(text)) return []
  const found = new Map<string, Sighting>()
  for (const match of text.matchAll(labelled)) {
    const { label = '', at = '', total } = match.groups ?? {}
    const name = label
      .toLowerCase()
      .replace(/[_ ]/g, ' ')
      .replace(/^epochs?$|^ep$/, 'epoch')
    if (found.has(name)) continue
    const before = shapeOf(text.slice(0, match.index))
    found.set(name, { record, label: name, before, at: whole(at), ...(total !== undefined && { total: whole(total) }) })
  }
  for (const { groups } of text.matchAll(pairs)) {
    const [at, total] = [whole(groups?.['at'] ?? ''), whole(groups?.['total'] ?? '')]
    if (at > total || total <= 1 || [...found.values()].some(one => one.total === total)) continue
    const label = groups?.['samples'] === undefined ? `of ${total}` : `samples of ${total}`
    found.set(label, { record, label, before: '', at, total })
  }
  // `[100] loss=2.1`: the number in front is all there is
  const bare = found.size === 0 ? /(?:^|\]\s)\[(\d{1,9})\]\s+[a-z][\w/.-]*\s*[=:]/i.exec(text) : null
  if (bare !== null) found.set('step', { record, label: 'step', before: '', at: Number(bare[1]) })
  // `[3/90][10/500]`, `Epoch: [3][10/500]`: the last pair is the epoch's own counter, though the word stands before it
  const nested =
    /\[\s*(\d+)\s*\/\s*(\d+)\s*\]\s*\[\s*(\d+)\s*\/\s*(\d+)\s*\]/.exec(text) ??
    /\bepoch(?:\s?\(\w+\))?:?\s*\[?\s*(\d+)\s*\]?(?:\s*\/\s*(\d+)\]?)?\s*[,:|]?\s*[[(]\s*(\d+)\s*\/\s*(\d+)/i.exec(text)
  if (nested !== null) {
    found.set('epoch', {
      record,
      label: 'epoch',
      before: '',
      at: Number(nested[1]),
      ...(nested[2] !== undefined && { total: Number(nested[2]) }),
    })
    found.delete(`of ${Number(nested[2])}`)
    const label = `of ${Number(nested[4])}`
    found.set(label, { record, label, before: '', at: Number(nested[3]), total: Number(nested[4]) })
  }
  return [...found.values()]
}

/** The last words of a text, numbers left out. */
function shapeOf(text: string): string {
  return text
    .replace(/[\d.\s]+/g, ' ')
    .trim()
    .slice(-12)
}

function whole(text: string): number {
  return Number(text.replaceAll(',', ''))
}
