import { describe, expect, test, vi } from 'vitest'
import { type Commands, describeFailure, helpTexts, run } from '../src/cli.ts'
import { GpufareError, InputError } from '../src/errors.ts'

/** What was typed, as words after the program's name. */
function words(typed: string): string[] {
  return typed.split(' ').filter(word => word !== '')
}

/** Runs what was typed with commands that only write down what reached them. */
async function type(typed: string) {
  const called: unknown[][] = []
  const record =
    (name: string) =>
    async (...given: unknown[]) => {
      called.push([name, ...given])
      return 0
    }
  const commands: Commands = {
    estimate: record('estimate'),
    submit: record('submit'),
    check: record('check'),
    comment: record('comment'),
    hook: record('hook'),
    hookRun: record('hookRun'),
    budget: record('budget'),
    learn: record('learn'),
    probe: record('probe'),
    policyTest: record('policyTest'),
    policyExplain: record('policyExplain'),
    review: record('review'),
    runsImport: record('runsImport'),
    runsList: record('runsList'),
  }
  const { exitCode, stderr, stdout } = await withoutStreams(() => run(words(typed), commands))
  return { called, exitCode, stderr, stdout }
}

/** Keeps what is written to the process's streams meanwhile. */
async function withoutStreams(call: () => Promise<number>) {
  const written = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map(name =>
    vi.spyOn(process[name], 'write').mockImplementation(text => {
      written[name] += text
      return true
    }),
  )
  try {
    return { exitCode: await call(), ...written }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

const checkDefaults = { color: true }
const defaults = { ...checkDefaults, history: true }
const submitDefaults = { ...defaults, stamp: true }
const nothing = { schedulerArguments: [], scriptArguments: [] }

describe('what is typed reaches its command', () => {
  test.each([
    ['estimate a.sbatch', 'estimate', ['a.sbatch'], defaults, nothing],
    ['estimate a.sbatch b.yaml', 'estimate', ['a.sbatch', 'b.yaml'], defaults, nothing],
    ['estimate -', 'estimate', ['-'], defaults, nothing],
    [
      'estimate --format json a.sbatch',
      'estimate',
      ['a.sbatch'],
      { ...defaults, format: [{ format: 'json' }] },
      nothing,
    ],
    [
      'estimate a.sbatch --format=json',
      'estimate',
      ['a.sbatch'],
      { ...defaults, format: [{ format: 'json' }] },
      nothing,
    ],
    ['estimate --explain --all a.sbatch', 'estimate', ['a.sbatch'], { ...defaults, explain: true, all: true }, nothing],
    ['estimate --config c.yaml a.sbatch', 'estimate', ['a.sbatch'], { ...defaults, config: 'c.yaml' }, nothing],
    ['estimate --no-color --quiet a', 'estimate', ['a'], { ...defaults, color: false, quiet: true }, nothing],
    ['submit a.sbatch', 'submit', ['a.sbatch'], submitDefaults, nothing],
    ['submit --yes a.sbatch', 'submit', ['a.sbatch'], { ...submitDefaults, yes: true }, nothing],
    ['submit --max-cost 12.50 a.sbatch', 'submit', ['a.sbatch'], { ...submitDefaults, maxCost: 12.5 }, nothing],
    ['submit --policy p.yaml a.sbatch', 'submit', ['a.sbatch'], { ...submitDefaults, policy: 'p.yaml' }, nothing],
    ['submit --no-stamp a.sbatch', 'submit', ['a.sbatch'], { ...defaults, stamp: false }, nothing],
    ['submit --dry-run a.sbatch', 'submit', ['a.sbatch'], { ...submitDefaults, dryRun: true }, nothing],
    [
      'submit a.sbatch -- --yes -N 2',
      'submit',
      ['a.sbatch'],
      submitDefaults,
      { schedulerArguments: ['--yes', '-N', '2'], scriptArguments: [] },
    ],
    [
      'submit a.sbatch -- -N 2 -- --epochs 3 -- x',
      'submit',
      ['a.sbatch'],
      submitDefaults,
      { schedulerArguments: ['-N', '2'], scriptArguments: ['--epochs', '3', '--', 'x'] },
    ],
    [
      'estimate a.sbatch -- -- --epochs 3',
      'estimate',
      ['a.sbatch'],
      defaults,
      { schedulerArguments: [], scriptArguments: ['--epochs', '3'] },
    ],
  ])('gpufare %s', async (typed, name, files, options, passedOn) => {
    const { called, exitCode } = await type(typed)
    expect(called).toEqual([[name, files, options, passedOn]])
    expect(exitCode).toBe(0)
  })
})

describe('what is typed of a check reaches it', () => {
  test.each([
    ['check', [], checkDefaults],
    ['check jobs a.yaml', ['jobs', 'a.yaml'], checkDefaults],
    [
      'check --base origin/main --exact --strict',
      [],
      { ...checkDefaults, base: 'origin/main', exact: true, strict: true },
    ],
    ['check --staged --head v2', [], { ...checkDefaults, staged: true, head: 'v2' }],
    ['check . --include *.yaml --include a/**', ['.'], { ...checkDefaults, include: ['*.yaml', 'a/**'] }],
    ['check --policy p.yaml --config c.yaml', [], { ...checkDefaults, policy: 'p.yaml', config: 'c.yaml' }],
    ['check --format sarif --quiet', [], { ...checkDefaults, format: [{ format: 'sarif' }], quiet: true }],
  ])('gpufare %s', async (typed, paths, options) => {
    expect(await type(typed)).toMatchObject({ called: [['check', paths, options]], exitCode: 0 })
  })
})

describe('what is typed of a hook reaches it', () => {
  test.each([
    ['hook install', 'hook', 'install'],
    ['hook uninstall', 'hook', 'uninstall'],
    ['hook status', 'hook', 'status'],
    ['hook run origin /r.git', 'hookRun', ['origin', '/r.git'], {}],
    ['hook run', 'hookRun', [], {}],
    ['hook run --timeout 2.5 --strict origin', 'hookRun', ['origin'], { timeout: 2.5, strict: true }],
  ])('gpufare %s', async (typed, ...call) => {
    const { called, exitCode } = await type(typed)
    expect(called).toEqual([call])
    expect(exitCode).toBe(0)
  })
})

describe('what is typed reaches gpufare comment', () => {
  test.each([
    ['comment --github c.md', 'c.md', { github: true }],
    ['comment --gitlab', '-', { gitlab: true }],
    [
      'comment --github --repo a/b --change 12 --dry-run c.md',
      'c.md',
      { github: true, repo: 'a/b', change: 12, dryRun: true },
    ],
  ])('gpufare %s', async (typed, file, options) => {
    expect(await type(typed)).toMatchObject({ called: [['comment', file, options]], exitCode: 0 })
  })
})

describe('what is typed reaches budget, learn and policy', () => {
  test.each([
    ['learn a.log logs', ['learn', ['a.log', 'logs'], { format: 'table', color: true }]],
    ['learn --dry-run --format json a.log', ['learn', ['a.log'], { format: 'json', color: true, dryRun: true }]],
    ['budget', ['budget', { format: 'table', color: true }]],
    ['budget --format json --notify --quiet', ['budget', { format: 'json', color: true, notify: true, quiet: true }]],
    [
      'policy test a.yaml b.yaml --policy p.yaml',
      ['policyTest', ['a.yaml', 'b.yaml'], { color: true, policy: 'p.yaml' }],
    ],
    ['probe a.sbatch', ['probe', 'a.sbatch', { for: 600, color: true }, nothing]],
    ['probe --for 90s --yes a.sbatch', ['probe', 'a.sbatch', { for: 90, yes: true, color: true }, nothing]],
    [
      'probe -- python train.py',
      [
        'probe',
        undefined,
        { for: 600, color: true },
        { schedulerArguments: ['python', 'train.py'], scriptArguments: [] },
      ],
    ],
    ['runs import', ['runsImport', [], { output: '.gpufare/runs.csv' }]],
    ['runs import --since 30d', ['runsImport', [], { output: '.gpufare/runs.csv', since: 30 }]],
    [
      'runs import a.txt mlruns --names',
      ['runsImport', ['a.txt', 'mlruns'], { output: '.gpufare/runs.csv', names: true }],
    ],
    ['runs list', ['runsList', undefined, {}]],
    ['review', ['review', { since: 7, by: 'team', format: 'table', color: true }]],
    [
      'review --since 30d --by gpu --format csv --all-users',
      ['review', { since: 30, by: 'gpu', format: 'csv', allUsers: true, color: true }],
    ],
    ['review --forget', ['review', { since: 7, by: 'team', format: 'table', color: true, forget: true }]],
    ['review --forget a.sh', ['review', { since: 7, by: 'team', format: 'table', color: true, forget: 'a.sh' }]],
    ['policy explain', ['policyExplain', undefined, { color: true }]],
    ['policy explain job-cost --no-color', ['policyExplain', 'job-cost', { color: false }]],
  ])('gpufare %s', async (typed, called) => {
    const { called: calls, exitCode } = await type(typed)
    expect({ calls, exitCode }).toEqual({ calls: [called], exitCode: 0 })
  })
})

describe('a wrong command line ends with 2, calls nothing and says what is wrong', () => {
  test.each([
    ['', /Usage: gpufare/],
    ['estimat a.sbatch', /unknown command 'estimat'\n\(Did you mean estimate\?\)/],
    ['estimate --formt json a', /unknown option '--formt'\n\(Did you mean --format\?\)/],
    ['estimate --format xml a', /Allowed choices are table, json, markdown, html, csv, each also as json=FILE/],
    ['estimate --format json= a', /Allowed choices are/],
    ['comment --github --change 0 c.md', /A number such as 12 is expected/],
    ['submit --max-cost lots a', /'lots' is invalid\. An amount of money is a number such as 50/],
    ['submit --max-cost -5 a', /invalid/],
    ['submit --max-cost 1e999 a', /invalid/],
    ['hook', /Usage: gpufare hook/],
    ['hook instal', /unknown command 'instal'/],
    ['hook install here', /too many arguments/],
    ['hook run --timeout soon', /'soon' is invalid\. Seconds are expected/],
  ])('gpufare %s', async (typed, message) => {
    const { called, exitCode, stderr, stdout } = await type(typed)
    expect({ called, exitCode, stdout }).toEqual({ called: [], exitCode: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})

describe('help and version go to stdout and end with 0', () => {
  test.each([
    ['--help', ''],
    ['help', ''],
    ['estimate --help', 'estimate'],
    ['help estimate', 'estimate'],
    ['submit -h', 'submit'],
  ])('gpufare %s', async (typed, command) => {
    expect(await type(typed)).toEqual({ called: [], exitCode: 0, stderr: '', stdout: helpTexts()[command] })
  })

  test('gpufare --version', async () => {
    const { exitCode, stdout } = await type('--version')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('every command shows examples of itself', () => {
    const { '': program, ...commands } = helpTexts()
    for (const [name, text] of Object.entries(commands)) {
      expect(text).toMatch(new RegExp(`Examples:\n  gpufare ${name} `))
      expect(program).toContain(`  ${name} `)
    }
  })
})

describe('a failure ends with its own exit code', () => {
  const prompt = (message: string) => Object.assign(new Error(message), { name: 'ExitPromptError' })

  test.each([
    ['what gpufare knows to be wrong', new GpufareError('no sbatch here', 1, 'is Slurm installed?'), 1],
    ['a refusal', new GpufareError('over the limit', 3), 3],
    ['a bad manifest', new InputError([{ place: { file: 'a.sbatch', line: 3 }, message: 'bad' }]), 2],
    ['a question that was broken off', prompt('User force closed the prompt with SIGINT'), 130],
    ['a question to which nobody can answer any more', prompt('User force closed the prompt with 0 null'), 4],
    ['anything else', new TypeError('x is undefined'), 1],
    ['what is not even an error', 'oops', 1],
  ])('%s', (_, error, exitCode) => {
    expect(describeFailure(error).exitCode).toBe(exitCode)
  })

  test('words and hint, without a stack, where gpufare knows what is wrong', () => {
    expect(describeFailure(new GpufareError('no sbatch here', 1, 'is Slurm installed?')).text).toBe(
      'gpufare: no sbatch here\n  is Slurm installed?\n',
    )
  })

  test('every fault of a manifest on a line of its own, beginning with its place', () => {
    const faults = [3, 7].map(line => ({ place: { file: 'a.sbatch', line }, message: 'bad' }))
    expect(describeFailure(new InputError(faults)).text).toBe('a.sbatch:3  bad\na.sbatch:7  bad\n')
  })

  test("a fault of gpufare's own shows where it happened and asks for a report", () => {
    const { text } = describeFailure(new TypeError('x is undefined'))
    expect(text).toContain('TypeError: x is undefined\n    at ')
    expect(text).toContain('report it')
  })

  test('what a command throws becomes the exit code of the program', async () => {
    const fails = async () => {
      throw new GpufareError('over the limit', 3)
    }
    const { exitCode, stderr } = await withoutStreams(() =>
      run(['submit', 'a'], {
        estimate: fails,
        submit: fails,
        check: fails,
        comment: fails,
        hook: fails,
        hookRun: fails,
        budget: fails,
        learn: fails,
        probe: fails,
        policyTest: fails,
        policyExplain: fails,
        review: fails,
        runsImport: fails,
        runsList: fails,
      }),
    )
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: 'gpufare: over the limit\n' })
  })
})
