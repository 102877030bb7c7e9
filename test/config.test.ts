import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configHomes, findConfigs, readConfigs } from '../src/config.ts'
import { makeFolder } from './folders.ts'

/** A home and a repository with these files; answers with the paths that count for its folder `work`. */
function pathsWith(files: Readonly<Record<string, string>>) {
  const root = makeFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  mkdirSync(join(root, 'repository/work'), { recursive: true })
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

  test('that is named and not there is an error of its own', async () => {
    await expect(readConfigs(findConfigs('.', configHomes({ HOME: '/nowhere' }), '/nowhere/x.yaml'))).rejects.toThrow(
      '/nowhere/x.yaml',
    )
  })
})
