import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as workflowParser from '@actions/workflow-parser'
import type * as actionParser from '@actions/workflow-parser/actions/action-parser'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import { startCodeHost, token } from '../comments/code-host.ts'
import { makeFolder } from '../folders.ts'
import { programWords } from './program.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** GitHub's own reader of workflows and actions, bundled: its modules import JSON in a way that Node.js refuses. */
async function loadReader(): Promise<typeof workflowParser & typeof actionParser> {
  const outfile = join(makeFolder(), 'reader.mjs')
  const contents = `export * from '@actions/workflow-parser'; export * from '@actions/workflow-parser/actions/action-parser'`
  const banner = { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)` }
  await build({ stdin: { contents, resolveDir: root }, bundle: true, platform: 'node', format: 'esm', outfile, banner })
  return import(pathToFileURL(outfile).href)
}
const { convertWorkflowTemplate, NoOperationTraceWriter, parseAction, parseWorkflow } = await loadReader()

const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** A folder on PATH where gpufare is this very program. */
const programs = makeFolder()
writeFileSync(join(programs, 'gpufare'), `#!/bin/sh\nexec ${programWords} "$@"\n`)
chmodSync(join(programs, 'gpufare'), 0o755)

/** Runs a script as a build machine does, with nothing but what it would set. */
async function bash(script: string, folder: string, variables: Readonly<Record<string, string>>) {
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd: folder,
    env: {
      PATH: `${programs}:${process.env['PATH']}`,
      HOME: programs,
      CI: 'true',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.org',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.org',
      ...variables,
    },
  })
  child.stdin.end()
  const ended = new Promise<number | null>(resolve => child.on('close', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { exitCode: await ended, stdout, stderr }
}

function jobOf(hours: number, more = ''): string {
  return `#!/bin/bash\n${more}#SBATCH -p a100\n#SBATCH --gres=gpu:a100:1\n#SBATCH -t 7-0\n#GPUFARE runtime=${hours}h on 1xa100-80gb\npython t.py\n`
}

/** A repository whose last commit makes a job of 4 hours one of `hours`, at $2 an hour and a limit of $100. */
async function repositoryOf(hours: number, more = ''): Promise<string> {
  const folder = makeFolder()
  writeFileSync(
    join(folder, 'gpufare.yaml'),
    'clusters:\n  - name: c\n    scheduler: slurm\n    partitions:\n      - {name: a100, gpu: a100-80gb, gpus-per-node: 8, nodes: 4, gres: a100, rate: 2}\npolicies:\n  - {rule: job-cost, limit: 100, self-exempt: true}\n',
  )
  writeFileSync(join(folder, 'train.sbatch'), jobOf(4))
  await bash('git init -qb main && git add . && git commit -qm base', folder, {})
  writeFileSync(join(folder, 'train.sbatch'), jobOf(hours, more))
  await bash('git add . && git commit -qm change', folder, {})
  return folder
}

describe('the action for GitHub', () => {
  const action = parse(read('action.yml'))
  const [, check, comment] = action.runs.steps

  test("is valid to GitHub's own reader", () => {
    const { value, context } = parseAction(
      { name: 'action.yml', content: read('action.yml') },
      new NoOperationTraceWriter(),
    )
    expect(context.errors.getErrors().map(String)).toEqual([])
    expect(value).toBeDefined()
  })

  test('a wrong one is not valid to it', () => {
    const wrong = read('action.yml').replace('using: composite', 'using: nothing')
    const { context } = parseAction({ name: 'action.yml', content: wrong }, new NoOperationTraceWriter())
    expect(context.errors.getErrors()).not.toEqual([])
  })

  test('installs this version', () => {
    expect(action.inputs.version.default).toBe(packageJson.version)
  })

  test('puts no expression into a script', () => {
    for (const step of action.runs.steps) expect(step.run).not.toContain('${{')
  })

  /** Runs the steps as the runner does, on a pull request whose comments go to a server on loopback. */
  async function runSteps(hours: number, more = '') {
    const folder = await repositoryOf(hours, more)
    const temporary = makeFolder()
    const host = await startCodeHost('github')
    const variables = {
      GITHUB_ACTIONS: 'true',
      RUNNER_TEMP: temporary,
      GITHUB_OUTPUT: join(temporary, 'output'),
      GITHUB_STEP_SUMMARY: join(temporary, 'summary'),
      GITHUB_API_URL: host.url,
      GITHUB_REPOSITORY: 'team/jobs',
      GITHUB_REF: 'refs/pull/12/merge',
    }
    const checked = await bash(check.run, folder, { ...variables, PATHS: '.\n', BASE: 'HEAD~1', STRICT: 'false' })
    const output = Object.fromEntries(
      readFileSync(variables.GITHUB_OUTPUT, 'utf8')
        .trim()
        .split('\n')
        .map(line => line.split('=')),
    )
    const commented = await bash(comment.run, folder, { ...variables, GITHUB_TOKEN: token, FOLDER: output.folder })
    await host.stop()
    return {
      checked,
      commented,
      comments: host.comments,
      output,
      summary: readFileSync(variables.GITHUB_STEP_SUMMARY, 'utf8'),
    }
  }

  test('lets a cheap change pass and comments on it', async () => {
    const { checked, commented, comments, output, summary } = await runSteps(10)
    expect(checked).toMatchObject({ exitCode: 0, stderr: '' })
    expect(commented.exitCode).toBe(0)
    expect(comments.map(each => each.body)).toEqual([
      expect.stringMatching(/^<!-- gpufare -->\n### GPU cost: within limits\n[\s\S]*\| \$8\.00 \| \$20 \| \+\$12 \|/),
    ])
    expect(summary.trim()).toBe(comments[0]?.body)
    expect(existsSync(join(output.folder, 'gpufare.sarif'))).toBe(true)
    expect(existsSync(join(output.folder, 'gpufare.html'))).toBe(true)
  })

  test('lets an expensive change pass that is exempt, and shows the reason', async () => {
    const exempt = '#GPUFARE exempt=job-cost until 2999-12-31: the last run of the paper\n'
    const { checked, comments } = await runSteps(100, exempt)
    expect(checked.exitCode).toBe(0)
    expect(checked.stdout).toMatch(
      /^::notice file=train\.sbatch,.*let pass until 2999-12-31: the last run of the paper$/m,
    )
    expect(comments[0]?.body).toMatch(/within limits[\s\S]*let pass until 2999-12-31: the last run of the paper/)
  })

  test('fails an expensive change, annotates its line and comments what to do', async () => {
    const { checked, comments } = await runSteps(100)
    expect(checked.exitCode).toBe(3)
    expect(checked.stdout).toMatch(/^::error file=train\.sbatch,line=\d+(,col=\d+)?,title=gpufare job-cost::/m)
    expect(comments[0]?.body).toMatch(/over the limit[\s\S]*\*\*job-cost\*\*, stops it[\s\S]*to pass: /)
  })
})

test.each(['ci.yml', 'publish.yml'])("the workflow %s is valid to GitHub's own reader", async name => {
  const file = { name, content: read(`.github/workflows/${name}`) }
  const { value, context } = parseWorkflow(file, new NoOperationTraceWriter())
  if (value !== undefined) await convertWorkflowTemplate(context, value)
  expect(context.errors.getErrors().map(String)).toEqual([])
})

describe('the template for GitLab', () => {
  const [spec, jobs] = parseAllDocuments(read('src/integrations/gitlab-ci.yml')).map(document => document.toJS())

  test('has an input for every one that it uses, and installs this version', () => {
    const used = [...read('src/integrations/gitlab-ci.yml').matchAll(/\$\[\[ inputs\.(\w+) \]\]/g)].map(
      match => match[1],
    )
    expect([...new Set(used)].sort()).toEqual(Object.keys(spec.spec.inputs).sort())
    expect(spec.spec.inputs.version.default).toBe(packageJson.version)
  })

  test('writes the reports it names, comments, and fails over the limit', async () => {
    const folder = await repositoryOf(100)
    const host = await startCodeHost('gitlab')
    const variables = {
      GITLAB_CI: 'true',
      CI_MERGE_REQUEST_DIFF_BASE_SHA: 'HEAD~1',
      CI_API_V4_URL: host.url,
      CI_PROJECT_ID: 'team/jobs',
      CI_MERGE_REQUEST_IID: '12',
      GITLAB_TOKEN: token,
    }
    const filled = (lines: readonly string[]) =>
      lines.join('\n').replace(/\$\[\[ inputs\.(\w+) \]\]/g, (_, name) => spec.spec.inputs[name].default)
    const checked = await bash(filled(jobs.gpufare.script), folder, variables)
    expect(checked).toMatchObject({ exitCode: 3, stderr: '' })
    expect(checked.stdout).toContain('over the limit')
    const commented = await bash(filled(jobs.gpufare.after_script), folder, variables)
    await host.stop()
    expect(commented).toMatchObject({ exitCode: 0 })
    expect(host.comments).toHaveLength(1)
    const { reports, paths } = jobs.gpufare.artifacts
    for (const file of [reports.junit, reports.codequality, ...paths]) expect(existsSync(join(folder, file))).toBe(true)
  })
})

describe('the snippets of the README', () => {
  const blocks = [...read('README.md').matchAll(/```(yaml|groovy)\n([\s\S]*?)```/g)].map(match => match[2] ?? '')
  const blockWith = (words: string) => blocks.find(block => block.includes(words)) ?? ''

  test.each([
    ['Azure Pipelines', parse(blockWith('PublishTestResults')).steps[1].script.replace(/^npm install.*$/m, '')],
    ['Jenkins', /\bsh '(.*)'$/m.exec(blockWith('archiveArtifacts'))?.[1] ?? ''],
  ])('%s: fails over the limit and leaves both reports', async (_, script) => {
    const folder = await repositoryOf(100)
    await bash('git update-ref refs/remotes/origin/main HEAD~1', folder, {})
    const branch = { SYSTEM_PULLREQUEST_TARGETBRANCHNAME: 'main', CHANGE_TARGET: 'main' }
    expect(await bash(script, folder, branch)).toMatchObject({ exitCode: 3, stderr: '' })
    expect([existsSync(join(folder, 'gpufare.xml')), existsSync(join(folder, 'gpufare.html'))]).toEqual([true, true])
  })

  test('GitHub and pre-commit: name this version', () => {
    expect(parse(blockWith('actions/checkout')).steps[1].uses).toMatch(new RegExp(`@v${packageJson.version}$`))
    const [repository] = parse(blockWith('id: gpufare-push')).repos
    expect(repository.rev).toBe(`v${packageJson.version}`)
    const offered = parse(read('.pre-commit-hooks.yaml')).map((hook: { id: string }) => hook.id)
    expect(repository.hooks.map((hook: { id: string }) => hook.id)).toEqual(offered)
  })
})
