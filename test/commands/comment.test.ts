import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CommentOptions, comment } from '../../src/commands/comment.ts'
import { GpufareError } from '../../src/errors.ts'
import { commentMarker } from '../../src/reporters/markdown.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { type CodeHost, startCodeHost, token } from '../comments/code-host.ts'

const body = `${commentMarker}\n### GPU cost: over the limit\n\n**1 finding stops it.**`

describe.each(['github', 'gitlab'] as const)('gpufare comment --%s', name => {
  let host: CodeHost
  beforeEach(async () => {
    host = await startCodeHost(name)
  })
  afterEach(() => host.stop())

  /** Variables of a build machine at work on change 12 of team/jobs. */
  const environmentOf = () => ({
    github: {
      GITHUB_API_URL: host.url,
      GITHUB_REPOSITORY: 'team/jobs',
      GITHUB_REF: 'refs/pull/12/merge',
      GITHUB_TOKEN: token,
    },
    gitlab: { CI_API_V4_URL: host.url, CI_PROJECT_ID: 'team/jobs', CI_MERGE_REQUEST_IID: '12', GITLAB_TOKEN: token },
  })

  /** Runs the command with a text on standard input; what was thrown is an answer too. */
  async function run(
    more: CommentOptions = {},
    { text = body, environment = {} }: { text?: string; environment?: Readonly<Record<string, string>> } = {},
  ) {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    stdin.end(text)
    const terminal = describeTerminal({ stdin, stdout, stderr }, { ...environmentOf()[name], ...environment })
    const waits: number[] = []
    const pause = async (milliseconds: number) => {
      waits.push(milliseconds / 1000)
    }
    const failure = await comment('-', { [name]: true, ...more }, terminal, pause).then(
      () => undefined,
      (error: unknown) => error,
    )
    const told = failure instanceof GpufareError ? `${failure.message}\n${failure.hint}` : String(failure ?? '')
    return {
      stdout: String(stdout.read() ?? ''),
      stderr: String(stderr.read() ?? ''),
      told,
      exitCode: failure instanceof GpufareError ? failure.exitCode : failure === undefined ? 0 : 'a fault',
      waits,
    }
  }
  const update = name === 'github' ? 'PATCH' : 'PUT'
  const verbs = () => host.requests.map(request => request.split(' ')[0])

  test('posts where there is none yet', async () => {
    host.comments.push({ id: 1, body: 'looks good' })
    expect(await run()).toMatchObject({ exitCode: 0, stdout: '', stderr: expect.stringContaining('comment posted') })
    expect(host.comments.map(each => each.body)).toEqual(['looks good', body])
  })

  test('updates the one of an earlier run, however many others there are', async () => {
    host.comments.push({ id: 7, body: `${commentMarker}\nearlier` })
    for (let id = 100; id < 350; id++) host.comments.push({ id, body: `comment ${id}` })
    expect(await run()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('comment updated') })
    expect(host.comments).toHaveLength(251)
    expect(host.comments[0]).toEqual({ id: 7, body })
    expect(verbs()).toEqual(['GET', 'GET', 'GET', update])
  })

  test('updates the one on a later page', async () => {
    for (let id = 100; id < 230; id++) host.comments.push({ id, body: `comment ${id}` })
    host.comments.push({ id: 7, body: `${commentMarker}\nearlier` })
    await run()
    expect(host.comments.find(each => each.id === 7)?.body).toBe(body)
  })

  test('leaves one that says the same', async () => {
    host.comments.push({ id: 7, body: `${body}\n` })
    expect(await run()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('unchanged') })
    expect(verbs()).toEqual(['GET'])
  })

  test('posts its own where the marker is in a comment that it may not change', async () => {
    host.comments.push({ id: 7, body: `${commentMarker}\nnot ours`, locked: true })
    expect(await run()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('posted') })
    expect(host.comments.map(each => each.body)).toEqual([`${commentMarker}\nnot ours`, body])
  })

  test('a marker inside a comment, such as a quotation, is not its own', async () => {
    host.comments.push({ id: 7, body: `> ${commentMarker}\nwhat is this?` })
    await run()
    expect(host.comments).toHaveLength(2)
  })

  test('puts the marker in front of a text without one', async () => {
    await run({}, { text: 'Cost: $5\n' })
    expect(host.comments[0]?.body).toBe(`${commentMarker}\nCost: $5`)
  })

  test('--dry-run asks nothing and prints the comment', async () => {
    const environment = { GITHUB_TOKEN: '', GITLAB_TOKEN: '' }
    expect(await run({ dryRun: true }, { environment })).toMatchObject({ exitCode: 0, stdout: `${body}\n` })
    expect(host.requests).toEqual([])
  })

  test.each([
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '7' } }, [7]],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '2' } }, [2]],
    ['502', { status: 502, body: '<html>Bad Gateway</html>' }, [1]],
    ['500', { status: 500 }, [1]],
    ['403 for asking too often', { status: 403, headers: { 'retry-after': '3' } }, [3]],
    ['a connection that breaks', 'hang up' as const, [1]],
  ])('tries again after %s', async (_, trouble, waits) => {
    host.troubles.push(trouble)
    expect(await run()).toMatchObject({ exitCode: 0, waits })
    expect(host.comments).toHaveLength(1)
  })

  test('waits until a rate limit starts anew', async () => {
    const reset = String(Math.round(Date.now() / 1000) + 30)
    host.troubles.push({ status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset } })
    const { waits } = await run()
    expect(waits[0]).toBeGreaterThan(25)
    expect(waits[0]).toBeLessThanOrEqual(31)
  })

  test('does not post twice where a try arrived and its answer did not', async () => {
    host.troubles.push(undefined, 'hang up after')
    expect(await run()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('unchanged') })
    expect(host.comments).toHaveLength(1)
  })

  test('gives up after four tries', async () => {
    host.troubles.push(...Array.from({ length: 10 }, () => ({ status: 502 })))
    const { exitCode, told, waits } = await run()
    expect({ exitCode, waits }).toEqual({ exitCode: 1, waits: [1, 2, 4] })
    expect(told).toMatch(/502 to GET .*\ntried 4 times/)
    expect(host.requests).toHaveLength(4)
  })

  test('does not wait an hour because it is told to', async () => {
    host.troubles.push({ status: 429, headers: { 'retry-after': '3600' } })
    expect(await run()).toMatchObject({ exitCode: 1, waits: [] })
  })

  test.each([
    [401, /401 to GET .*(Bad credentials|Unauthorized)/, { GITHUB_TOKEN: 'wrong', GITLAB_TOKEN: 'wrong' }],
    [404, /404 to GET .*\nis the number right/, { GITHUB_REF: 'refs/pull/13/merge', CI_MERGE_REQUEST_IID: '13' }],
  ])('a %i is said at once, with what to do', async (_, message, environment) => {
    const { exitCode, told, waits } = await run({}, { environment })
    expect({ exitCode, waits }).toEqual({ exitCode: 1, waits: [] })
    expect(told).toMatch(message)
  })

  test('a 403 names the right that is missing', async () => {
    host.troubles.push(undefined, { status: 403, body: '{"message":"Resource not accessible by integration"}' })
    const { exitCode, told } = await run()
    expect(exitCode).toBe(1)
    expect(told).toMatch(/Resource not accessible by integration\n.*(pull-requests: write|scope api)/)
  })

  test('a redirection is not followed: the token would go along', async () => {
    host.troubles.push({ status: 301, headers: { location: `${host.url}/elsewhere` } })
    expect(await run()).toMatchObject({ exitCode: 1, told: expect.stringContaining('the project was moved') })
    expect(host.requests).toHaveLength(1)
  })

  test('an answer that is no list of comments is said to be none', async () => {
    host.troubles.push({ status: 200, body: '{"login":"page"}' })
    expect(await run()).toMatchObject({ exitCode: 1, told: expect.stringContaining('no list of comments') })
  })

  test('a list that leads to another server is not followed there', async () => {
    host.troubles.push({ status: 200, body: '[]', headers: { link: '<http://127.0.0.1:9/steal>; rel="next"' } })
    expect(await run()).toMatchObject({ exitCode: 0 })
    expect(verbs()).toEqual(['GET', 'POST'])
  })

  test('nothing is sent over an open connection', async () => {
    const environment = { GITHUB_API_URL: 'http://api.example', CI_API_V4_URL: 'http://api.example' }
    expect(await run({}, { environment })).toMatchObject({ exitCode: 2, told: expect.stringContaining('only https') })
  })

  test('the token is in no output, even where the service repeats it or escape sequences', async () => {
    const outputs = []
    for (const trouble of [
      { status: 400, body: JSON.stringify({ message: `bad token ${token} \u001b[2J::error::x` }) },
      { status: 422, body: JSON.stringify({ error: { token } }) },
      'hang up' as const,
    ]) {
      host.troubles.push(trouble)
      outputs.push(JSON.stringify(await run()))
    }
    outputs.push(JSON.stringify(await run({ dryRun: true })))
    expect(outputs.join('\n')).not.toContain(token)
    expect(outputs.join('\n')).toContain('bad token ***')
    expect(outputs.join('\n')).not.toMatch(/\\u001b\[2J"|(^|\s)::error::/)
  })

  test('a text that is longer than the service takes is refused before anything is sent', async () => {
    expect(await run({}, { text: 'x'.repeat(1_000_001) })).toMatchObject({
      exitCode: 2,
      told: expect.stringMatching(/characters are too many/),
    })
    expect(await run({}, { text: '  \n' })).toMatchObject({ exitCode: 2 })
    expect(host.requests).toEqual([])
  })

  test.each([
    ['a token', { GITHUB_TOKEN: '', GITLAB_TOKEN: '' }, /TOKEN is not set/],
    ['a number', { GITHUB_REF: 'refs/heads/main', CI_MERGE_REQUEST_IID: '' }, /--change NUMBER/],
    ['a project', { GITHUB_REPOSITORY: '', CI_PROJECT_ID: '' }, /--repo/],
  ])('without %s it says which is missing, and ends with 2', async (_, environment, message) => {
    const { exitCode, told } = await run({}, { environment })
    expect(exitCode).toBe(2)
    expect(told).toMatch(message)
  })

  test('options win over the environment', async () => {
    await run(
      { repo: 'team/jobs', change: 12 },
      { environment: { GITHUB_REPOSITORY: 'a/b', CI_PROJECT_ID: '9', GITHUB_REF: '', CI_MERGE_REQUEST_IID: '' } },
    )
    expect(host.comments).toHaveLength(1)
  })
})

test.each([[{}], [{ github: true, gitlab: true }]] as const)('where to is said once: %j', async options => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const terminal = describeTerminal({ stdin, stdout, stderr }, {})
  await expect(comment('-', options, terminal)).rejects.toMatchObject({
    exitCode: 2,
    hint: expect.stringContaining('--github'),
  })
})

test('a file that is not there ends with 2', async () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const terminal = describeTerminal({ stdin, stdout, stderr }, {})
  await expect(comment('nowhere.md', { github: true }, terminal)).rejects.toMatchObject({ exitCode: 2 })
})
