import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One comment as the pretended service keeps it; `locked` ones are somebody else's. */
interface KeptComment {
  readonly id: number
  body: string
  readonly system?: boolean
  readonly locked?: boolean
}

/** What the service does instead of answering, once each, in order; undefined = answer. */
export type Trouble =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'hang up'
  /** Does what is asked and hangs up. */
  | 'hang up after'
  | undefined

/** A server on loopback that pages, refuses and stores comments as the APIs of GitHub and GitLab do. */
export interface CodeHost {
  readonly url: string
  readonly comments: KeptComment[]
  readonly troubles: Trouble[]
  /** `METHOD path` of each request. */
  readonly requests: string[]
  stop(): Promise<void>
}

export const token = 'ghp_verysecrettoken1234567890'

/** The comments' path, how a comment is changed, and how the token comes along. */
const services = {
  github: {
    list: /^\/repos\/team\/jobs\/issues\/12\/comments$/,
    one: /^\/repos\/team\/jobs\/issues\/comments\/(\d+)$/,
    update: 'PATCH',
    isAllowed: (request: IncomingMessage) => request.headers.authorization === `Bearer ${token}`,
    unauthorised: { message: 'Bad credentials', status: '401' },
    missing: { message: 'Not Found', status: '404' },
    forbidden: { message: 'Resource not accessible by integration', status: '403' },
  },
  gitlab: {
    list: /^\/projects\/team%2Fjobs\/merge_requests\/12\/notes$/,
    one: /^\/projects\/team%2Fjobs\/merge_requests\/12\/notes\/(\d+)$/,
    update: 'PUT',
    isAllowed: (request: IncomingMessage) => request.headers['private-token'] === token,
    unauthorised: { message: '401 Unauthorized' },
    missing: { message: '404 Not found' },
    forbidden: { message: '403 Forbidden' },
  },
} as const

export async function startCodeHost(name: keyof typeof services): Promise<CodeHost> {
  const service = services[name]
  const comments: KeptComment[] = []
  const troubles: Trouble[] = []
  const requests: string[] = []

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://service')
    requests.push(`${request.method} ${url.pathname}`)
    const text = await bodyOf(request)
    const trouble = troubles.shift()
    if (trouble === 'hang up') return request.socket.destroy()
    if (typeof trouble === 'object') return answer(response, trouble.status, trouble.body ?? '', trouble.headers)
    if (!service.isAllowed(request)) return answer(response, 401, JSON.stringify(service.unauthorised))
    const given = url.pathname
    const id = Number(service.one.exec(given)?.[1])
    const found = comments.find(comment => comment.id === id)
    if (service.list.test(given) && request.method === 'GET') return list(response, url)
    if (service.list.test(given) && request.method === 'POST') {
      const comment = { id: 1_000 + comments.length, body: JSON.parse(text).body }
      comments.push(comment)
      if (trouble === 'hang up after') return request.socket.destroy()
      return answer(response, 201, JSON.stringify(comment))
    }
    if (request.method === service.update && found !== undefined) {
      if (found.locked === true) return answer(response, 403, JSON.stringify(service.forbidden))
      found.body = JSON.parse(text).body
      return answer(response, 200, JSON.stringify(found))
    }
    return answer(response, 404, JSON.stringify(service.missing))
  })

  function list(response: ServerResponse, url: URL): void {
    const size = Number(url.searchParams.get('per_page') ?? 30)
    const page = Number(url.searchParams.get('page') ?? 1)
    const rest = comments.length - page * size
    url.searchParams.set('page', String(page + 1))
    const next = `${addressOf(server)}${url.pathname}${url.search}`
    const links = [...(rest > 0 ? [`<${next}>; rel="next"`] : []), `<${addressOf(server)}/last>; rel="last"`]
    answer(response, 200, JSON.stringify(comments.slice((page - 1) * size, page * size)), { link: links.join(', ') })
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: addressOf(server),
    comments,
    troubles,
    requests,
    stop: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function addressOf(server: Server): string {
  const address: AddressInfo | string | null = server.address()
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : ''
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

function answer(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}
