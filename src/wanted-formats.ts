import { GpufareError } from './errors.ts'

/** How a quote can be written; the first is what a person gets. */
export const quoteFormats = ['table', 'json', 'markdown', 'html', 'csv'] as const
export type QuoteFormat = (typeof quoteFormats)[number]

/** How the outcome of a check can be written; the first is what a person gets. */
export const checkFormats = [
  'table',
  'json',
  'markdown',
  'github',
  'sarif',
  'junit',
  'code-quality',
  'csv',
  'html',
] as const
export type CheckFormat = (typeof checkFormats)[number]

/** One `--format`: how, and where to if not to standard output. */
export interface WantedFormat<Format extends string> {
  readonly format: Format
  readonly file?: string
}

/** A report that goes to a file. */
export type FileOutput<Format extends string> = WantedFormat<Format> & { readonly file: string }

export function isToFile<Format extends string>(output: WantedFormat<Format>): output is FileOutput<Format> {
  return output.file !== undefined
}

/** What of `--format`, `--out` and the terminal decides where reports go. */
export interface OutputOptions<Format extends string> {
  readonly format?: readonly WantedFormat<Format>[]
  readonly out?: string
}

/**
 * Reads one `--format F` or `--format F=FILE`; undefined where F is none of the formats. Only the first `=` counts, a file's name may
 * hold more.
 */
export function readWantedFormat<Format extends string>(
  text: string,
  formats: readonly Format[],
): WantedFormat<Format> | undefined {
  const at = text.indexOf('=')
  const name = at === -1 ? text : text.slice(0, at)
  const format = formats.find(each => each === name)
  const file = text.slice(at + 1)
  if (format === undefined || (at !== -1 && file === '')) return undefined
  return at === -1 ? { format } : { format, file }
}

/**
 * Where each report goes: those with a file of their own there, the one without to `--out` or to standard output. Where every format
 * has a file, a person still gets the `usual` one.
 */
export function outputsOf<Format extends string>(
  { format: wanted = [], out }: OutputOptions<Format>,
  usual: Format,
): readonly WantedFormat<Format>[] {
  const filed = wanted.filter(isToFile)
  const [first, second] = wanted.filter(each => each.file === undefined)
  if (second !== undefined) {
    throw new GpufareError(
      'two formats cannot both go to standard output',
      2,
      `give all but one a file: --format ${second.format}=FILE`,
    )
  }
  const main = first ?? { format: usual }
  const outputs = [...filed, out === undefined ? main : { ...main, file: out }]
  const files = outputs.flatMap(each => each.file ?? [])
  const twice = files.find((file, index) => files.indexOf(file) !== index)
  if (twice !== undefined) throw new GpufareError(`two formats cannot both go to ${twice}`, 2)
  return outputs
}

/** Longest comments of code hosts, in characters, by a variable that their build machines set. */
const commentLimits = [
  // "Body is too long (maximum is 65536 characters)", answer 422 of its API
  { variable: 'GITHUB_ACTIONS', characters: 65_536 },
  // docs.gitlab.com/api/notes, "body": "Limited to 1,000,000 characters"
  { variable: 'GITLAB_CI', characters: 1_000_000 },
  // "Please enter a non-empty value less than 32768 characters", answer 400 of its API
  { variable: 'BITBUCKET_BUILD_NUMBER', characters: 32_767 },
  // "A discussion comment cannot be longer than 150000 characters", answer 400 of its API
  { variable: 'TF_BUILD', characters: 150_000 },
] as const

/** How long a comment may be where this runs; the shortest of all where that is not known. */
export function longestComment(environment: Readonly<Record<string, string | undefined>>): number {
  const host = commentLimits.find(({ variable }) => (environment[variable] ?? '') !== '')
  return host?.characters ?? Math.min(...commentLimits.map(({ characters }) => characters))
}
