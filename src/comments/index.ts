import { GpufareError } from '../errors.ts'
import { plainText } from '../escaping.ts'
import type { Call, Change, Comment, CommentHost } from './comment-host.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { Refusal } from './schema.ts'

/** Every service that comments can be posted to. */
export const commentHosts: readonly CommentHost[] = [github, gitlab]

/** What became of a comment. */
export interface Posted {
  readonly what: 'posted' | 'updated' | 'unchanged'
  readonly label: string
}

/** Tries in all, the first included. */
const mostTries = 4
/** Longest time to wait for a service that asks for it, all waits together. */
const mostWaitSeconds = 90
const answerMilliseconds = 15_000
/** Pages looked through for an earlier comment: 5,000 comments. */
const mostPages = 50

/** A failure that may be over in a moment. */
class TryLater extends Error {
  readonly afterSeconds: number | undefined

  constructor(message: string, afterSeconds: number | undefined) {
    super(message)
    this.afterSeconds = afterSeconds
  }
}

/**
 * Posts a comment, or updates the earlier one that begins with the same marker. Where the service is busy or fails, the whole is
 * tried again, looking for the comment anew, so that a try that did arrive is not doubled.
 */
export async function postComment(
  host: CommentHost,
  change: Change,
  body: string,
  marker: string,
  pause: (milliseconds: number) => Promise<unknown>,
): Promise<Posted> {
  refuseOpenConnection(change)
  let waitedSeconds = 0
  for (let attempt = 1; ; attempt++) {
    try {
      return { what: await putComment(host, change, body, marker), label: change.label }
    } catch (error) {
      if (!(error instanceof TryLater)) throw error
      const seconds = error.afterSeconds ?? 2 ** (attempt - 1)
      waitedSeconds += seconds
      if (attempt === mostTries || waitedSeconds > mostWaitSeconds) {
        throw new GpufareError(
          `${host.title}: ${error.message}`,
          1,
          `tried ${attempt === 1 ? 'once' : `${attempt} times`}; the comment may be missing`,
        )
      }
      await pause(seconds * 1000)
    }
  }
}

/** A token goes only where nobody can read it on the way. */
function refuseOpenConnection({ apiUrl }: Change): void {
  const url = URL.canParse(apiUrl) ? new URL(apiUrl) : undefined
  const isOwnMachine = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isOwnMachine)) return
  throw new GpufareError(`the token is not sent to ${plainText(apiUrl)}: only https is safe`, 2)
}

async function putComment(host: CommentHost, change: Change, body: string, marker: string): Promise<Posted['what']> {
  for (const comment of await earlierComments(host, change, marker)) {
    if (comment.body.trimEnd() === body.trimEnd()) return 'unchanged'
    if (await isWritten(host, change, host.updating(change, comment, body))) return 'updated'
  }
  await ask(host, change, host.posting(change, body))
  return 'posted'
}

/** Somebody else may have posted the marker too: what this token may not change is left alone. */
async function isWritten(host: CommentHost, change: Change, call: Call): Promise<boolean> {
  const { status } = await ask(host, change, call, [403, 404])
  return status !== 403 && status !== 404
}

/** Comments that begin with the marker, the newest first. */
async function earlierComments(host: CommentHost, change: Change, marker: string): Promise<readonly Comment[]> {
  const found: Comment[] = []
  let path: string | undefined = host.listing(change)
  for (let page = 0; path !== undefined && page < mostPages; page++) {
    const response: Response = await ask(host, change, { method: 'GET', path })
    const comments = readComments(host, await jsonOf(response))
    found.push(...comments.filter(comment => comment.body.trimStart().startsWith(marker)))
    path = nextPage(response, change)
  }
  return found.reverse()
}

function readComments(host: CommentHost, answer: unknown): readonly Comment[] {
  try {
    return host.read(answer)
  } catch {
    throw new GpufareError(
      `${host.title}: an answer that is no list of comments`,
      1,
      'is the address of its API right?',
    )
  }
}

/** The path of the next page by the `Link` header (RFC 8288); another host than the one asked is not followed. */
function nextPage(response: Response, { apiUrl }: Change): string | undefined {
  const link = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(response.headers.get('link') ?? '')?.[1]
  return link?.startsWith(`${apiUrl}/`) === true ? link.slice(apiUrl.length) : undefined
}

/** One request. Statuses of `expected` are answers; others that are no success are thrown. */
async function ask(
  host: CommentHost,
  change: Change,
  call: Call | { readonly method: 'GET'; readonly path: string },
  expected: readonly number[] = [],
): Promise<Response> {
  const response = await fetch(change.apiUrl + call.path, {
    method: call.method,
    headers: { ...change.headers, 'user-agent': 'gpufare', 'content-type': 'application/json' },
    // the token would go along to wherever a redirection leads
    redirect: 'manual',
    signal: AbortSignal.timeout(answerMilliseconds),
    ...('body' in call && { body: JSON.stringify(call.body) }),
  }).catch(error => {
    throw new TryLater(`no answer from ${change.apiUrl}: ${reasonOf(error, change)}`, undefined)
  })
  if (response.ok) return response
  const isBusy =
    response.status === 429 || response.status >= 500 || (response.status === 403 && isRateLimited(response))
  if (!isBusy && expected.includes(response.status)) return response
  const said = `${response.status} to ${call.method} ${call.path.split('?')[0]}${await refusalOf(response, change)}`
  if (isBusy) throw new TryLater(said, waitAskedFor(response))
  throw new GpufareError(`${host.title}: ${said}`, 1, hintFor(host, response.status))
}

/** GitHub says 403 also to who asks too often (docs.github.com, rate limits for the REST API). */
function isRateLimited({ headers }: Response): boolean {
  return headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0'
}

/** `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), else when the rate limit starts anew. */
function waitAskedFor({ headers }: Response): number | undefined {
  const after = headers.get('retry-after')
  if (after !== null) {
    const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000
    return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
  }
  const reset = headers.get('x-ratelimit-remaining') === '0' ? Number(headers.get('x-ratelimit-reset')) : Number.NaN
  return Number.isFinite(reset) ? Math.max(0, reset - Date.now() / 1000) : undefined
}

function hintFor(host: CommentHost, status: number): string | undefined {
  if (status === 401 || status === 403) return host.rightHint
  if (status === 404) return `is the number right, and may the token see the project? ${host.rightHint}`
  if (status >= 300 && status < 400) return 'the project was moved: give its new name'
  return undefined
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw new TryLater('an answer that is no JSON', undefined)
  }
}

/** What the service says itself, on one line, cut, and without the token. */
async function refusalOf(response: Response, change: Change): Promise<string> {
  const text = await response.text().catch(() => '')
  let said: unknown
  try {
    const { message, error } = Refusal.parse(JSON.parse(text))
    said = message ?? error
  } catch {
    return ''
  }
  return said === undefined ? '' : `: ${withoutToken(typeof said === 'string' ? said : JSON.stringify(said), change)}`
}

function reasonOf(error: unknown, change: Change): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return withoutToken(cause instanceof Error ? cause.message : String(cause), change)
}

const longestReason = 300

function withoutToken(text: string, { token }: Change): string {
  return plainText(text.replaceAll(token, '***').slice(0, longestReason))
}
