import { Command, CommanderError, InvalidArgumentError, Option } from '@commander-js/extra-typings'
import packageJson from '../package.json' with { type: 'json' }
import type { BudgetOptions } from './commands/budget.ts'
import type { CheckOptions } from './commands/check.ts'
import type { CommentOptions } from './commands/comment.ts'
import type { EstimateOptions } from './commands/estimate.ts'
import type { HookAction, HookRunOptions } from './commands/hook.ts'
import type { LearnOptions } from './commands/learn.ts'
import type { PolicyTestOptions } from './commands/policy.ts'
import type { ProbeOptions } from './commands/probe.ts'
import type { ReviewOptions } from './commands/review.ts'
import type { RunsImportOptions } from './commands/runs.ts'
import type { SubmitOptions } from './commands/submit.ts'
import { GpufareError, InputError } from './errors.ts'
import { plainLines } from './escaping.ts'
import type { PassedOn } from './quoted-manifests.ts'
import { parseDuration } from './units.ts'
import { checkFormats, quoteFormats, readWantedFormat, type WantedFormat } from './wanted-formats.ts'

/** The commands; each answers with the process's exit code. */
export interface Commands {
  estimate(files: readonly string[], options: EstimateOptions, passedOn: PassedOn): Promise<number>
  submit(files: readonly string[], options: SubmitOptions, passedOn: PassedOn): Promise<number>
  check(paths: readonly string[], options: CheckOptions): Promise<number>
  comment(file: string, options: CommentOptions): Promise<number>
  hook(action: HookAction): Promise<number>
  hookRun(words: readonly string[], options: HookRunOptions): Promise<number>
  budget(options: BudgetOptions): Promise<number>
  learn(logs: readonly string[], options: LearnOptions): Promise<number>
  probe(file: string | undefined, options: ProbeOptions, passedOn: PassedOn): Promise<number>
  policyTest(files: readonly string[], options: PolicyTestOptions): Promise<number>
  policyExplain(rule: string | undefined, options: { readonly color: boolean }): Promise<number>
  review(options: ReviewOptions): Promise<number>
  runsImport(paths: readonly string[], options: RunsImportOptions): Promise<number>
  runsList(file: string | undefined, options: { readonly all?: true }): Promise<number>
}

/** A command's file is imported when it is called: no other command waits for it. */
const importedWhenCalled: Commands = {
  estimate: async (...given) => (await import('./commands/estimate.ts')).estimate(...given),
  submit: async (...given) => (await import('./commands/submit.ts')).submit(...given),
  check: async (...given) => (await import('./commands/check.ts')).check(...given),
  comment: async (...given) => (await import('./commands/comment.ts')).comment(...given),
  hook: async (...given) => (await import('./commands/hook.ts')).hook(...given),
  hookRun: async (...given) => (await import('./commands/hook.ts')).hookRun(...given),
  budget: async (...given) => (await import('./commands/budget.ts')).budget(...given),
  learn: async (...given) => (await import('./commands/learn.ts')).learn(...given),
  probe: async (...given) => (await import('./commands/probe.ts')).probe(...given),
  policyTest: async (...given) => (await import('./commands/policy.ts')).policyTest(...given),
  policyExplain: async (...given) => (await import('./commands/policy.ts')).policyExplain(...given),
  review: async (...given) => (await import('./commands/review.ts')).review(...given),
  runsImport: async (...given) => (await import('./commands/runs.ts')).runsImport(...given),
  runsList: async (...given) => (await import('./commands/runs.ts')).runsList(...given),
}

/** Runs what was typed (`words` follow the program's name) and answers with the exit code. */
export async function run(words: readonly string[], commands: Commands = importedWhenCalled): Promise<number> {
  const [ownWords, wordsBehind] = cutAtDashes(words)
  const [schedulerArguments, scriptArguments] = cutAtDashes(wordsBehind)
  const passedOn = { schedulerArguments, scriptArguments }
  let exitCode = 0
  const program = commandLine({
    estimate: async (files, options) => {
      exitCode = await commands.estimate(files, options, passedOn)
    },
    submit: async (files, options) => {
      exitCode = await commands.submit(files, options, passedOn)
    },
    check: async (paths, options) => {
      exitCode = await commands.check(paths, options)
    },
    comment: async (file, options) => {
      exitCode = await commands.comment(file, options)
    },
    hook: async action => {
      exitCode = await commands.hook(action)
    },
    hookRun: async (words, options) => {
      exitCode = await commands.hookRun(words, options)
    },
    budget: async options => {
      exitCode = await commands.budget(options)
    },
    learn: async (logs, options) => {
      exitCode = await commands.learn(logs, options)
    },
    probe: async (file, options) => {
      exitCode = await commands.probe(file, options, passedOn)
    },
    policyTest: async (files, options) => {
      exitCode = await commands.policyTest(files, options)
    },
    policyExplain: async (rule, options) => {
      exitCode = await commands.policyExplain(rule, options)
    },
    review: async options => {
      exitCode = await commands.review(options)
    },
    runsImport: async (paths, options) => {
      exitCode = await commands.runsImport(paths, options)
    },
    runsList: async (file, options) => {
      exitCode = await commands.runsList(file, options)
    },
  })
  try {
    await program.parseAsync(ownWords, { from: 'user' })
    return exitCode
  } catch (error) {
    const failure = describeFailure(error)
    process.stderr.write(failure.text)
    return failure.exitCode
  }
}

function cutAtDashes(words: readonly string[]): [string[], string[]] {
  const at = words.indexOf('--')
  return at === -1 ? [[...words], []] : [words.slice(0, at), words.slice(at + 1)]
}

/** What a failure has to say on stderr, empty where it was said already, and the exit code it ends with. */
export function describeFailure(error: unknown): { readonly text: string; readonly exitCode: number } {
  // each of its lines begins with the place, so that editors and terminals can follow it
  if (error instanceof InputError) return { text: `${plainLines(error.message)}\n`, exitCode: error.exitCode }
  if (error instanceof GpufareError) {
    const hint = error.hint === undefined ? '' : `  ${error.hint}\n`
    return { text: plainLines(`gpufare: ${error.message}\n${hint}`), exitCode: error.exitCode }
  }
  // commander prints its own words; help and version, which were asked for, end with 0
  if (error instanceof CommanderError) return { text: '', exitCode: error.exitCode === 0 ? 0 : 2 }
  // inquirer throws the same for Ctrl-C and for a stdin that ends; only the former names the signal
  if (error instanceof Error && error.name === 'ExitPromptError') {
    return { text: '\n', exitCode: error.message.includes('SIGINT') ? 130 : 4 }
  }
  const trace = error instanceof Error ? error.stack : String(error)
  return {
    text: `${plainLines(String(trace))}\ngpufare: this is a fault in gpufare ${packageJson.version}; report it with these lines\n`,
    exitCode: 1,
  }
}

/** Called by commander with what was typed. */
interface Actions {
  estimate(files: string[], options: EstimateOptions): Promise<void>
  submit(files: string[], options: SubmitOptions): Promise<void>
  check(paths: string[], options: CheckOptions): Promise<void>
  comment(file: string, options: CommentOptions): Promise<void>
  hook(action: HookAction): Promise<void>
  hookRun(words: string[], options: HookRunOptions): Promise<void>
  budget(options: BudgetOptions): Promise<void>
  learn(logs: string[], options: LearnOptions): Promise<void>
  probe(file: string | undefined, options: ProbeOptions): Promise<void>
  policyTest(files: string[], options: PolicyTestOptions): Promise<void>
  policyExplain(rule: string | undefined, options: { readonly color: boolean }): Promise<void>
  review(options: ReviewOptions): Promise<void>
  runsImport(paths: string[], options: RunsImportOptions): Promise<void>
  runsList(file: string | undefined, options: { readonly all?: true }): Promise<void>
}

/** Everything that can be typed. */
function commandLine(actions: Actions): Command {
  const program = new Command('gpufare')
    .description(
      'Know the fare before the job boards the cluster: what a GPU job will take and cost, before it is submitted.',
    )
    .version(packageJson.version)
    .configureHelp({ helpWidth: 80 })
    // commander repeats what was typed
    .configureOutput({ writeErr: text => process.stderr.write(plainLines(text)) })
    .showHelpAfterError('(--help shows what can be typed)')
    .exitOverride()
    .addHelpText(
      'after',
      examples(['gpufare estimate train.sbatch', 'gpufare submit train.sbatch', 'gpufare submit --help']),
    )

  quoteOptions(program.command('estimate'))
    .summary('print what manifests will take and cost; submits nothing')
    .description(
      'Reads manifests (Slurm batch scripts, Kubernetes YAML) and prints what they will take and cost on the GPUs they ask for and on others. Submits nothing.',
    )
    .argument('[file...]', 'manifests; - reads standard input')
    .usage('[options] <file...> [-- scheduler options [-- script arguments]]')
    .addHelpText(
      'after',
      examples([
        'gpufare estimate train.sbatch',
        'gpufare estimate --explain job.yaml',
        'gpufare estimate --format json *.sbatch',
        'gpufare estimate train.sbatch -- --partition=a100 --time=4:00:00',
      ]),
    )
    .action(actions.estimate)

  quoteOptions(program.command('submit'))
    .summary('quote manifests, ask, and forward them to sbatch or kubectl')
    .description(
      'Quotes manifests, asks, and forwards the very bytes it read to sbatch or kubectl create. What stands behind -- goes to them as it is.',
    )
    .argument('[file...]', 'manifests; - reads standard input')
    .usage('[options] <file...> [-- scheduler options [-- script arguments]]')
    .option('--yes', 'submit as written, without a question')
    .addOption(
      new Option(
        '--max-cost <amount>',
        'submit without a question where it surely costs no more, refuse where it may',
      ).argParser(readAmount),
    )
    .option('--policy <file>', 'a policy file that counts whatever gpufare.yaml says')
    .option('--dry-run', 'quote and ask, then print the command instead of running it')
    .option('--no-stamp', 'do not give the scheduler the quote to keep beside the job')
    .addHelpText(
      'after',
      examples([
        'gpufare submit train.sbatch',
        'gpufare submit train.sbatch -- --partition=a100 -- --epochs 3',
        "gpufare submit -- --gpus=1 --time=2:00:00 --wrap='python train.py'",
        'gpufare submit --max-cost 50 job.yaml',
      ]),
    )
    .action(actions.submit)

  checkCommand(program.command('check'), actions)
  commentCommand(program.command('comment'), actions)
  hookCommand(program.command('hook'), actions)
  budgetCommand(program.command('budget'), actions)
  learnCommand(program.command('learn'), actions)
  probeCommand(program.command('probe'), actions)
  policyCommand(program.command('policy'), actions)
  runsCommand(program.command('runs'), actions)
  reviewCommand(program.command('review'), actions)
  return program
}

function commentCommand(command: Command, actions: Actions): void {
  command
    .summary('post the outcome of a check below a pull or merge request, or update it')
    .description(
      'Posts what gpufare check --format markdown wrote as a comment, or updates the one of an earlier run, found by its hidden first line. The token comes from GITHUB_TOKEN or GITLAB_TOKEN; it is never printed.',
    )
    .argument('[file]', 'the comment; - reads standard input', '-')
    .option('--github', "GitHub's pull request of this run")
    .option('--gitlab', "GitLab's merge request of this run")
    .option('--repo <name>', 'repository or project, where the environment does not say it')
    .addOption(
      new Option('--change <number>', 'pull or merge request, where the environment does not say it').argParser(
        readNumber,
      ),
    )
    .option('--dry-run', 'print the comment instead of posting it')
    .addHelpText(
      'after',
      examples([
        'gpufare comment --github cost.md',
        'gpufare check --format markdown . | gpufare comment --gitlab',
        'gpufare comment --github --repo team/jobs --change 12 --dry-run cost.md',
      ]),
    )
    .action(actions.comment)
}

function checkCommand(command: Command, actions: Actions): void {
  command
    .summary('the gate: price and judge all manifests, or those that changed')
    .description(
      'Finds manifests in files and folders, prices and judges them, asks nothing and submits nothing. Ends with 0 within the limits, 2 where a manifest is broken, 3 over a limit, 5 with --strict where a job could not be estimated.',
    )
    .argument('[path...]', 'files and folders; the current folder where none is named')
    .option('--base <revision>', 'check what changed since it parted from this revision, and show the difference')
    .option('--exact', 'compare with the very revision of --base')
    .option('--staged', 'check what is staged, not what lies on the disk')
    .option('--head <revision>', 'check a revision; its files are read from git, nothing is checked out')
    .option('--include <glob...>', 'check only files that fit, such as jobs/**/*.yaml')
    .option('--strict', 'end with 5 where a job could not be estimated')
    .option('--policy <file>', 'a policy file that counts whatever the repository says')
    .addOption(formatOption(checkFormats))
    .option('--out <file>', 'write the outcome to this file instead of printing it')
    .option('--config <file>', 'read this gpufare.yaml instead of those found upward')
    .option('--quiet', 'print no remarks')
    .option('--no-color', 'print without colour')
    .addHelpText(
      'after',
      examples([
        'gpufare check .',
        'gpufare check jobs/ --strict',
        'gpufare check --base origin/main --format markdown',
        'gpufare check --staged --base HEAD',
        'gpufare check --head v2 --base v1',
      ]),
    )
    .action(actions.check)
}

function hookCommand(command: Command, actions: Actions): void {
  command
    .summary('price what is pushed, in git’s pre-push hook')
    .description(
      'A pre-push hook that prices the jobs in the commits that are pushed, and stops a push over the limits. git push --no-verify or GPUFARE_SKIP=1 passes it by.',
    )
    .addHelpText('after', examples(['gpufare hook install', 'gpufare hook status', 'gpufare hook uninstall']))
  command
    .command('install')
    .description('install the hook in this repository; an earlier hook is kept and runs first')
    .action(() => actions.hook('install'))
  command
    .command('uninstall')
    .description('take the hook away; what was there before is back, byte for byte')
    .action(() => actions.hook('uninstall'))
  command
    .command('status')
    .description('say which hook there is and what it starts')
    .action(() => actions.hook('status'))
  command
    .command('run')
    .description('check a push: what the hook runs, with the refs on standard input as githooks(5) has them')
    .argument('[remote...]', "the remote's name and URL")
    .addOption(
      new Option(
        '--timeout <seconds>',
        'time after which the push goes on unchecked; 0 = no limit (default: git config gpufare.timeout, else 20)',
      ).argParser(readSeconds),
    )
    .option('--strict', 'stop what cannot be checked or estimated (default: git config gpufare.strict)')
    .addHelpText('after', examples(['gpufare hook run origin git@example.org:team/jobs.git < refs']))
    .action(actions.hookRun)
}

function budgetCommand(command: Command, actions: Actions): void {
  command
    .summary('show every budget, and what is spent of it')
    .description(
      'Shows the budgets of gpufare.yaml that count today: what is spent by a file, sacct or sshare, and what is left.',
    )
    .addOption(
      new Option('--format <format>', 'how to print them')
        .choices(['table', 'json'] as const)
        .default('table' as const),
    )
    .option('--config <file>', 'read this gpufare.yaml instead of the one found upward')
    .option('--notify', 'run the configured program for every budget that is over a threshold')
    .option('--quiet', 'print no remarks')
    .option('--no-color', 'print without colour')
    .addHelpText('after', examples(['gpufare budget --format json', 'gpufare budget --notify']))
    .action(actions.budget)
}

function learnCommand(command: Command, actions: Actions): void {
  command
    .summary('read logs of earlier runs: how far, how fast, how it ended')
    .description(
      'Reads the output of earlier jobs (training, simulation, serving) and prints what it tells: steps done and planned, the steady time of a step, throughput of the job, time left, memory, and how it ended. What a log does not tell is left out, never guessed. It is kept: `estimate` and `submit` of a script that writes to the same files, or of a job of the name told, go by it, even once the log is gone.',
    )
    .argument('[log...]', 'log files, and folders of them')
    .option('--dry-run', 'print only, and keep nothing')
    .option('--job <name>', 'the job that wrote them: those of this name, digits aside, are quoted by them')
    .option('--list', 'print what is kept, of these logs or of all')
    .option('--forget', 'drop what is kept, of these logs or of all')
    .addOption(
      new Option('--format <format>', 'how to print it').choices(['table', 'json'] as const).default('table' as const),
    )
    .option('--no-color', 'print without colour')
    .addHelpText(
      'after',
      examples([
        'gpufare learn logs/',
        'gpufare learn --job bert-finetune finetune.log     # of kubectl logs, for example',
        'gpufare learn --dry-run --format json train.log',
        'gpufare learn --forget',
      ]),
    )
    .action(actions.learn)
}

function probeCommand(command: Command, actions: Actions): void {
  command
    .summary('run a job for a few minutes, and quote it by its rate')
    .description(
      'Submits a batch script or a Job of Kubernetes with a short time limit, asks first and says what that costs at most, follows its output, ends it as soon as its rate is steady and quotes the whole job by it. Behind -- a command is run on this machine instead.',
    )
    .argument('[file]', 'a batch script of Slurm, or a manifest of one Job')
    .usage('[options] <file> [-- scheduler options] | -- <command...>')
    .addOption(
      new Option('--for <duration>', 'how long it runs at most, such as 10m')
        .argParser(readDuration)
        .default(600, '10m'),
    )
    .option('--yes', 'submit without a question')
    .option('--explain', 'show where every figure of the quote comes from')
    .option('--config <file>', 'read this gpufare.yaml instead of the one found upward')
    .option('--no-color', 'print without colour')
    .addHelpText(
      'after',
      examples([
        'gpufare probe train.sbatch',
        'gpufare probe --for 5m train.sbatch',
        'gpufare probe job.yaml -- --context research',
        'gpufare probe -- python train.py',
      ]),
    )
    .action(actions.probe)
}

function readDuration(text: string): number {
  const seconds = parseDuration(text)
  if (seconds !== undefined && seconds > 0) return seconds
  throw new InvalidArgumentError('A time such as 90s, 10m or 1h30m is expected.')
}

function runsCommand(command: Command, actions: Actions): void {
  command
    .summary('keep earlier runs, which runtimes are known by')
    .description('Keeps earlier runs in a small file beside the code, and shows what is known.')
    .addHelpText('after', examples(['gpufare runs import --sacct', 'gpufare runs list']))
  command
    .command('import')
    .description(
      'Reads runs of sacct -P, sacct --json, CSV, MLflow or W&B, or asks sacct where no file is named, and adds them to the file of runs, each once however often it is imported. Names are kept as digests.',
    )
    .argument('[file...]', 'files or folders of runs; - reads standard input')
    .option('--sacct', 'ask sacct for your own runs as well')
    .addOption(sinceOption('sacct is asked for runs that ended in the last so many days, such as 30d'))
    .option('--user <name>', 'ask sacct for the runs of this user')
    .option('--names', 'keep names of jobs, users and accounts as they are')
    .option('--output <file>', 'the file of runs', '.gpufare/runs.csv')
    .addHelpText(
      'after',
      examples(['gpufare runs import', 'gpufare runs import runs.txt mlruns/', 'sacct -P ... | gpufare runs import -']),
    )
    .action(actions.runsImport)
  command
    .command('list')
    .description('Shows what is known of earlier runs, the most frequent names first.')
    .argument('[file]', 'the file of runs; .gpufare/runs.csv if left out')
    .option('--all', 'show every name')
    .addHelpText('after', examples(['gpufare runs list']))
    .action(actions.runsList)
}

function reviewCommand(command: Command, actions: Actions): void {
  command
    .summary('compare what was quoted with what it took')
    .description(
      'Compares quotes of submitted jobs with what they took: hours, money, waste, what each unit of work cost and what to do about the worst. Quotes come from the ledger and from the stamps in Slurm’s accounting and on objects of Kubernetes, what was taken from sacct and kubectl. The next quotes of your own jobs are corrected by how far the earlier ones were off.',
    )
    .addOption(
      new Option('--since <days>', 'jobs that were quoted in the last so many days, such as 30d')
        .argParser(readDays)
        .default(7, '7d'),
    )
    .addOption(
      new Option('--by <what>', 'what to add up by')
        .choices(['team', 'user', 'gpu', 'model'] as const)
        .default('team' as const),
    )
    .addOption(
      new Option('--format <format>', 'how to print it')
        .choices(['table', 'json', 'markdown', 'csv'] as const)
        .default('table' as const),
    )
    .option('--all-users', 'jobs of everybody and of all namespaces, as far as sacct and kubectl show them to you')
    .option('--forget [job]', 'drop what was learnt, of a job or a fingerprint of --explain, and show nothing')
    .option('--config <file>', 'read this gpufare.yaml instead of the one found upward')
    .option('--no-color', 'print without colour')
    .addHelpText(
      'after',
      examples([
        'gpufare review --since 30d --by gpu',
        'gpufare review --all-users --format csv',
        'gpufare review --forget train.sbatch',
      ]),
    )
    .action(actions.review)
}

/** Without a value, so that what asks says how many days are usual. */
function sinceOption(words: string) {
  return new Option('--since <days>', `${words} (default: 90d)`).argParser(readDays)
}

function readDays(text: string): number {
  const days = Number(text.replace(/d$/, ''))
  if (!Number.isInteger(days) || days < 1) throw new InvalidArgumentError('A number of days is expected, such as 30d.')
  return days
}

function policyCommand(command: Command, actions: Actions): void {
  command
    .summary('explain the rules of policies, and test a policy on examples')
    .description('Explains the rules that policies in gpufare.yaml can name, and tests a policy on examples.')
    .addHelpText(
      'after',
      examples(['gpufare policy explain', 'gpufare policy explain job-cost', 'gpufare policy test examples.yaml']),
    )
  command
    .command('test')
    .description('run a policy over examples; ends with 1 where it finds something else than they expect')
    .argument('<file...>', 'YAML files of examples: jobs, and what the policy must find')
    .option('--policy <file>', 'the policy file to test; the gpufare.yaml that counts for the examples if left out')
    .option('--config <file>', 'read this gpufare.yaml instead of the one found upward')
    .option('--no-color', 'print without colour')
    .addHelpText('after', examples(['gpufare policy test --policy site.yaml examples.yaml']))
    .action(actions.policyTest)
  command
    .command('explain')
    .description('say what a rule does, its settings, an example and the smallest change it proposes')
    .argument('[rule]', 'all rules in short where none is named')
    .option('--no-color', 'print without colour')
    .addHelpText('after', examples(['gpufare policy explain forbidden-gpu']))
    .action(actions.policyExplain)
}

/** Options of every command that shows a quote. */
function quoteOptions(command: Command) {
  return command
    .addOption(formatOption(quoteFormats))
    .option('--out <file>', 'write the quote to this file instead of printing it')
    .option('--all', 'show every candidate')
    .option('--explain', 'show where every figure comes from, and the arithmetic')
    .option('--config <file>', 'read this gpufare.yaml instead of the one found upward')
    .option('--no-history', 'go by no earlier runs')
    .option('--log <file...>', 'go by these logs of earlier runs of the job, wherever they are')
    .addOption(sinceOption('go by runs that Slurm saw end in the last so many days, such as 30d'))
    .option('--user <name>', 'whose earlier runs to go by (default: your own)')
    .option('--quiet', 'print nothing but the quote')
    .option('--no-color', 'print without colour')
}

/** `--format F`, and any number of `--format F=FILE`. */
function formatOption<Format extends string>(formats: readonly Format[]) {
  const read = (text: string, earlier: readonly WantedFormat<Format>[] | undefined) => {
    const wanted = readWantedFormat(text, formats)
    if (wanted !== undefined) return [...(earlier ?? []), wanted]
    throw new InvalidArgumentError(`Allowed choices are ${formats.join(', ')}, each also as ${formats[1]}=FILE.`)
  }
  return new Option(
    '--format <format[=file]>',
    `${formats.join(', ')}; with =FILE into a file, as often as wanted (default: ${formats[0]})`,
  ).argParser(read)
}

function examples(lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map(line => `  ${line}`)].join('\n')
}

function readAmount(text: string): number {
  const amount = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(amount)) return amount
  throw new InvalidArgumentError('An amount of money is a number such as 50 or 12.50.')
}

function readNumber(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('A number such as 12 is expected.')
}

function readSeconds(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(seconds)) return seconds
  throw new InvalidArgumentError('Seconds are expected, such as 20.')
}

/** The text of `--help` by command, the program's own under the empty name. */
export function helpTexts(): Readonly<Record<string, string>> {
  const unused = async () => {}
  const program = commandLine({
    estimate: unused,
    submit: unused,
    check: unused,
    comment: unused,
    hook: unused,
    hookRun: unused,
    budget: unused,
    learn: unused,
    probe: unused,
    policyTest: unused,
    policyExplain: unused,
    review: unused,
    runsImport: unused,
    runsList: unused,
  })
  const texts: Record<string, string> = {}
  for (const command of [program, ...program.commands]) {
    const name = command === program ? '' : command.name()
    const writeOut = (text: string) => {
      texts[name] += text
    }
    texts[name] = ''
    command.configureOutput({ writeOut }).outputHelp()
  }
  return texts
}
