import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import type { CommentHost } from '../comments/comment-host.ts'
import { commentHosts, postComment } from '../comments/index.ts'
import { GpufareError } from '../errors.ts'
import { commentMarker } from '../reporters/markdown.ts'
import { processTerminal, type Terminal } from '../terminal.ts'

/** What `gpufare comment` can be told. */
export interface CommentOptions {
  readonly github?: true
  readonly gitlab?: true
  readonly repo?: string
  readonly change?: number
  readonly dryRun?: true
}

/** Posts what `check --format markdown` wrote below a pull or merge request, or updates the comment of an earlier run. */
export async function comment(
  path: string,
  options: CommentOptions,
  terminal: Terminal = processTerminal(),
  pause: (milliseconds: number) => Promise<unknown> = wait,
): Promise<number> {
  const host = hostOf(options)
  const body = markedBody(await readBody(path, terminal), host)
  const change = host.locate(options, terminal.environment)
  if (options.dryRun === true) {
    terminal.stderr.write(
      `gpufare: nothing was posted; without --dry-run this would go to ${host.title}, ${change.label}:\n`,
    )
    terminal.stdout.write(`${body}\n`)
    return 0
  }
  const { what, label } = await postComment(host, change, body, commentMarker, pause)
  terminal.stderr.write(`gpufare: comment ${what} on ${host.title}, ${label}\n`)
  return 0
}

function hostOf(options: CommentOptions): CommentHost {
  const [host, other] = commentHosts.filter(({ name }) => options[name] === true)
  if (host !== undefined && other === undefined) return host
  throw new GpufareError('where to is not said', 2, 'one of --github and --gitlab')
}

async function readBody(path: string, terminal: Terminal): Promise<string> {
  if (path === '-') return readAll(terminal.stdin)
  try {
    return await readFile(path, 'utf8')
  } catch {
    throw new GpufareError(`${path} cannot be read`, 2, 'gpufare check --format markdown=FILE writes it')
  }
}

/** The text with the marker in front, as long as the host takes it. */
function markedBody(text: string, host: CommentHost): string {
  const body = text.trim()
  if (body === '')
    throw new GpufareError('there is nothing to post', 2, 'gpufare check --format markdown writes a comment')
  const marked = body.startsWith(commentMarker) ? body : `${commentMarker}\n${body}`
  if (marked.length <= host.longestComment) return marked
  throw new GpufareError(
    `${marked.length} characters are too many for ${host.title}, which takes ${host.longestComment}`,
    2,
    'gpufare check --format markdown, where this runs, leaves out what is too much',
  )
}
