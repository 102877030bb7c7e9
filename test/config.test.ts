import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configHomes, findConfigs, readConfigs, withPolicyOf } from '../src/config.ts'
import { makeFolder } from './folders.ts'

/** A home and a repository with these files; answers with the paths that count for its folder `work`. */
function pathsWith(files: Readonly<Record<string, string>>) {
  const root = makeFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  mkdirSync(join(root, 'repository/work'), { recursive: true })
  mkdirSync(join(root, '.git')) // nothing above the folder counts, whatever lies there
  const homes = { ...configHomes({ HOME: join(root, 'home') }), site: join(root, 'etc/gpufare.yaml') }
  return { root, paths: findConfigs(join(root, 'repository/work'), homes) }
}

const userFile = 'home/.config/gpufare/gpufare.yaml'

describe('the configuration', () => {
  test('is found upward to the root of the repository and not above it', () => {
    const { root, paths } = pathsWith({ 'gpufare.yaml': '', 'repository/.git/HEAD': '', 'repository/gpufare.yaml': '' })
    expect(paths).toEqual([{ path: join(root, 'repository/gpufare.yaml'), trusted: false }])
    expect(pathsWith({ 'gpufare.yaml': '', 'repository/.git/HEAD': '' }).paths).toEqual([])
  })

  test("of the repository wins over the user's, and that over the site's", async () => {
    const { paths } = pathsWith({
      'repository/gpufare.yaml': 'regions: [here]\n',
      [userFile]: 'regions: [there]\nproviders: [gcp]\n',
      'etc/gpufare.yaml': 'providers: [aws]\nteam: site\n',
    })
    expect(await readConfigs(paths)).toMatchObject({ regions: ['here'], providers: ['gcp'], team: { value: 'site' } })
  })

  test("lets ask-above count only from the user's or the site's file, and says so", async () => {
    const repository = await readConfigs(pathsWith({ 'repository/gpufare.yaml': 'ask-above: 20\n' }).paths)
    expect(repository.askAboveUsd).toBeUndefined()
    expect(repository.ignored.join()).toContain('ask-above')
    expect((await readConfigs(pathsWith({ [userFile]: 'ask-above: 20\n' }).paths)).askAboveUsd?.value).toBe(20)
  })

  test('that --config names may set no more than a repository may, unless it is the user’s own', async () => {
    const { root } = pathsWith({ 'other.yaml': 'ask-above: 20\n', [userFile]: 'ask-above: 30\n' })
    const homes = configHomes({ HOME: join(root, 'home') })
    const chosen = await readConfigs(findConfigs(root, homes, join(root, 'other.yaml')))
    expect(chosen.askAboveUsd?.value).toBe(30)
    expect(chosen.ignored.join()).toContain('ask-above')
    expect((await readConfigs(findConfigs(root, homes, join(root, userFile)))).askAboveUsd?.value).toBe(30)
  })

  test('turns amounts of its currency into US dollars', async () => {
    const { paths } = pathsWith({
      [userFile]: `currency: {code: EUR, per-usd: 0.8}
ask-above: 20
clusters:
  - {name: lab, scheduler: slurm, partitions: [{name: a100, gpu: a100-80gb, gpus-per-node: 8, rate: 1.6}]}
`,
    })
    const config = await readConfigs(paths)
    expect(config.currency).toMatchObject({ code: 'EUR', source: expect.stringMatching(/gpufare\.yaml:1:32$/) })
    expect(config.askAboveUsd?.value).toBe(25)
    expect(config.clusters[0]?.pools[0]?.usdPerGpuHour).toMatchObject({ value: 2, origin: { place: { line: 4 } } })
  })

  test('names the key and the line of every fault', async () => {
    const { paths, root } = pathsWith({
      'repository/gpufare.yaml': `clusters:
  - name: lab
    scheduler: slurm
    partitions:
      - name: a100
        gpu: a100-80gb
        gpus-per-node: eight
discuont: 0.1
`,
    })
    const failure = readConfigs(paths)
    await expect(failure).rejects.toThrow(`${join(root, 'repository/gpufare.yaml')}:7:24`)
    await expect(failure).rejects.toThrow('gpus-per-node')
    await expect(failure).rejects.toThrow(/:8:1 .*discuont/)
  })

  test('asks whether a key that is like a misspelt one was meant, else names the keys there are', async () => {
    const { paths } = pathsWith({
      'repository/gpufare.yaml': `discuont: 0.1
clusters:
  - name: lab
    scheduler: slurm
    partitions:
      - {name: a100, gpu: a100-80gb, gpu-per-node: 8}
currency: {code: EUR, per-usd: 0.9, colour: red}
`,
    })
    const failure = readConfigs(paths)
    await expect(failure).rejects.toThrow(/:1:1 .*discuont: .*did you mean discount\?/)
    await expect(failure).rejects.toThrow(/:6:38 .*gpu-per-node: .*did you mean gpus-per-node\?/)
    await expect(failure).rejects.toThrow(/:7:37 .*colour: .*known are code, per-usd/)
  })

  test('without a scheduler says so, what was misspelt, and what else is wrong in the cluster', async () => {
    const { paths } = pathsWith({
      'repository/gpufare.yaml': `clusters:
  - name: lab
    schedular: slurm
    partitions:
      - {name: a100, gpu: a100-80gb, gpus-per-node: eight}
  - name: cloud
    scheduler: kubernets
    node-pools:
      - {name: t4, gpus-per-node: 1}
`,
    })
    const failure = readConfigs(paths)
    await expect(failure).rejects.toThrow(
      /clusters\[0\]\.scheduler: slurm or kubernetes is expected, but it is missing/,
    )
    await expect(failure).rejects.toThrow(/:3:5 .*schedular: .*did you mean scheduler\?/)
    await expect(failure).rejects.toThrow(/:5:53 .*gpus-per-node/)
    await expect(failure).rejects.toThrow(/:7:16 .*slurm or kubernetes is expected, found "kubernets"/)
    await expect(failure).rejects.toThrow(/:9:.*\.gpu: .*missing/)
  })

  test('that is named and not there is an error of its own', async () => {
    await expect(readConfigs(findConfigs('.', configHomes({ HOME: '/nowhere' }), '/nowhere/x.yaml'))).rejects.toThrow(
      '/nowhere/x.yaml',
    )
  })
})

describe('policies of several files', () => {
  const cost = (limit: number) => `policies: [{rule: job-cost, limit: ${limit}}]\n`

  test('all count: a nearer file takes none away', async () => {
    const { paths } = pathsWith({
      'repository/gpufare.yaml': cost(50),
      [userFile]: cost(20),
      'etc/gpufare.yaml': cost(10),
    })
    const { policies } = await readConfigs(paths)
    expect(policies.map(({ limitUsd, trusted }) => [limitUsd, trusted])).toEqual([
      [50, false],
      [20, true],
      [10, true],
    ])
  })

  test('are compared in US dollars, seconds and shares', async () => {
    const { paths } = pathsWith({
      [userFile]: `currency: {code: EUR, per-usd: 0.5}
policies:
  - {rule: job-cost, limit: 50}
  - {rule: runtime, limit: 1d}
  - {rule: cost-increase-percent, limit: 25}
budgets: [{amount: 10, period: month, warn-at: 50}]
`,
    })
    const { policies, budgets } = await readConfigs(paths)
    expect(policies).toMatchObject([{ limitUsd: 100 }, { limitSeconds: 86_400 }, { limitShare: 0.25 }])
    expect(policies[1]?.place.line).toBe(4)
    expect(budgets).toMatchObject([{ unit: 'usd', limit: 20, warnAt: 0.5, denyAt: 1 }])
  })

  test.each([
    ['policies: [{rule: job-costs, limit: 5}]', 'a rule is expected: job-cost'],
    ['policies: [{rule: job-cost}]', 'limit'],
    ['policies: [{rule: job-cost, limit: 5, gpus: [t4]}]', 'gpus'],
    ['policies: [{rule: runtime, limit: soon}]', 'a duration such as 24h'],
    ['policies: [{rule: forbidden-gpu, gpus: [t4], allowed: [t4]}]', 'gpus or allowed'],
    ['budgets: [{period: month}]', 'amount or gpu-hours'],
    ['budgets: [{amount: 5}]', 'period'],
    ['budgets: [{amount: 5, period: month, from: 2026-01-01, until: 2026-02-01}]', 'period'],
    ['budgets: [{amount: 5, period: month, spent: {from: sshare, account: a}}]', 'neither of them with sshare'],
    ['exemptions: [{rule: job-cost, until: 2026-02-30, reason: x}]', 'a day such as 2026-12-31'],
    ['exemptions: [{rule: everything, until: 2026-02-03, reason: x}]', 'job-cost'],
    ['exemptions: [{rule: job-cost, until: 2026-02-03}]', 'reason'],
    ['notify: mail', 'notify'],
    [
      'policies: [job-cost]',
      'policies[0]: a mapping such as {rule: job-cost, limit: 500} is expected, found "job-cost"',
    ],
    ['policies: [{rule: job-cost, limit: 5, where: {team: 5}}]', 'where.team: text or a list is expected, found 5'],
    ['policies: [{rule: runtime, limit: 24}]', 'limit: a duration such as 24h is expected, found 24'],
    [
      'policies: [{rule: required-tags, tags: []}]',
      'tags: at least 1 entry in the list is expected, found an empty list',
    ],
    ['policies: [{rule: job-cost, limit: "5"}]', 'limit: a number is expected, found "5"'],
    [
      'budgets: [{amount: 5, from: 2026-01-01, until: 2026}]',
      'until: a day such as 2026-12-31 is expected, found 2026',
    ],
    ['policies: [{rule: job-cost, limit: 5, basis: max}]', 'basis: p50, p90 or bound is expected, found "max"'],
    ['team: ""', 'team: at least 1 character is expected'],
    ['currency: EUR', 'currency: a mapping is expected, found "EUR"'],
  ])('%s is a fault', async (text, message) => {
    await expect(readConfigs(pathsWith({ [userFile]: `${text}\n` }).paths)).rejects.toThrow(message)
  })

  test('name a program to run only in the files of the user or the site', async () => {
    const notify = 'notify: [mail, me]\n'
    const repository = await readConfigs(pathsWith({ 'repository/gpufare.yaml': notify }).paths)
    expect(repository.notify).toBeUndefined()
    expect(repository.ignored.join()).toContain('notify counts only')
    expect((await readConfigs(pathsWith({ [userFile]: notify }).paths)).notify).toEqual(['mail', 'me'])
  })

  test("of a trusted file stand in for the repository's, and leave the user's", async () => {
    const exemption = 'exemptions: [{rule: job-cost, until: 2026-12-31, reason: mine}]\n'
    const { paths, root } = pathsWith({
      'repository/gpufare.yaml': `${cost(50)}${exemption}`,
      [userFile]: cost(20),
      'policy.yaml': cost(5),
    })
    const trusted = await readConfigs([{ path: join(root, 'policy.yaml'), trusted: true }])
    const config = withPolicyOf(await readConfigs(paths), trusted)
    expect(config.policies.map(({ limitUsd, trusted: isTrusted }) => [limitUsd, isTrusted])).toEqual([
      [5, true],
      [20, true],
    ])
    expect(config.exemptions).toEqual([])
    expect(config.ignored.join()).toContain('policies, budgets and exemptions do not count here')
  })

  test('of a base revision that says the same are no remark, wherever they stand', async () => {
    const now = await readConfigs(pathsWith({ 'repository/gpufare.yaml': `\n\n${cost(50)}` }).paths)
    const base = await readConfigs(pathsWith({ 'repository/gpufare.yaml': cost(50) }).paths)
    expect(withPolicyOf(now, base)).toMatchObject({ policies: [{ limitUsd: 50, trusted: true }], ignored: [] })
  })
})
