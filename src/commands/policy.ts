import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Config, configHomes, findConfigs, readConfigs, withPolicyOf } from '../config.ts'
import { check, readYaml } from '../document.ts'
import { GpufareError, InputError, systemReason } from '../errors.ts'
import { plainText } from '../escaping.ts'
import { fareOf } from '../fare.ts'
import { counts, exemptibleRules, type Finding } from '../finding.ts'
import { manifestOf } from '../manifest.ts'
import { readJobs } from '../manifests/index.ts'
import { ownEntry } from '../own-entry.ts'
import { PolicyExamples } from '../policy-examples-schema.ts'
import { readTables } from '../pricing-data.ts'
import { tablesFolder } from '../quoted-manifests.ts'
import { readReferredFiles } from '../referred-files.ts'
import { checkRules, rules } from '../rules/index.ts'
import type { Rule } from '../rules/rule.ts'
import { loadPaint, type Paint, processTerminal, type Terminal } from '../terminal.ts'
import { countOf } from '../units.ts'

/** What `gpufare policy test` can be told. */
export interface PolicyTestOptions {
  readonly policy?: string
  readonly config?: string
  readonly color: boolean
}

/** Runs a policy over files of examples; ends with 1 where it finds something else than they expect. */
export async function policyTest(
  files: readonly string[],
  options: PolicyTestOptions,
  terminal: Terminal = processTerminal(options.color ? undefined : false),
): Promise<number> {
  const paint = await loadPaint(terminal, 'stdout')
  let [held, failed] = [0, 0]
  for (const file of files) {
    const examples = readExamples(file)
    const config = await policyFor(file, options, terminal)
    for (const example of examples) {
      const differences = differencesOf(example.expect, findingsOf(example, file, config))
      if (differences.length === 0) held++
      else failed++
      terminal.stdout.write(`${describeOutcome(example.name, differences, paint)}\n`)
    }
  }
  terminal.stdout.write(`${countOf(held + failed, 'example')}: ${held} as expected, ${failed} not\n`)
  return failed > 0 ? 1 : 0
}

async function policyFor(file: string, options: PolicyTestOptions, { environment }: Terminal): Promise<Config> {
  const config = await readConfigs(findConfigs(dirname(resolve(file)), configHomes(environment), options.config))
  const counting =
    options.policy === undefined
      ? config
      : withPolicyOf(config, await readConfigs([{ path: options.policy, trusted: true }]))
  if (counting.policies.length > 0) return counting
  throw new GpufareError(`${options.policy ?? file}: no policy counts here`, 2, 'name one with --policy FILE')
}

type Example = PolicyExamples['examples'][number]

function readExamples(file: string): readonly Example[] {
  const documents = readYaml(readText(file), file, 'yaml-1.2')
  return documents.flatMap(document => check(PolicyExamples, document).examples)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new InputError([{ place: { file }, message: `it can't be read: ${systemReason(error)}` }])
  }
}

function findingsOf(example: Example, file: string, config: Config): readonly Finding[] {
  const name = example.file === undefined ? `${file} (${example.name})` : resolve(dirname(file), example.file)
  const text = example.manifest ?? readText(name)
  const folder = dirname(example.file === undefined ? resolve(file) : name)
  const tables = readTables(tablesFolder)
  const usd = example.before === undefined ? undefined : example.before / config.currency.perUsd
  const context = {
    today: example.today ?? new Date().toISOString().slice(0, 10),
    path: example.path ?? example.file ?? file,
    ...(usd !== undefined && { change: { beforeUsd: { p10: usd, p50: usd, p90: usd } } }),
  }
  return readJobs(manifestOf(name, new TextEncoder().encode(text)))
    .map(job => fareOf(job, readReferredFiles(job, folder), tables, config))
    .flatMap(fare => checkRules(fare, config, context))
}

/** Where a policy found something else than was expected. */
function differencesOf(expected: Example['expect'], findings: readonly Finding[]): readonly string[] {
  const wanted = new Map(Object.entries(expected))
  const missing = [...wanted]
    .filter(([rule, standing]) => !findings.some(finding => finding.rule === rule && standingOf(finding) === standing))
    .map(([rule, standing]) => `${rule}: ${standing} was expected`)
  const surplus = findings
    .filter(finding => wanted.get(finding.rule) !== standingOf(finding))
    .map(finding => `${finding.rule}: found ${standingOf(finding)}: ${finding.message}`)
  return [...missing, ...surplus]
}

function standingOf(finding: Finding): 'warn' | 'deny' | 'exempt' {
  return counts(finding) ? finding.level : 'exempt'
}

function describeOutcome(name: string, differences: readonly string[], paint: Paint): string {
  if (differences.length === 0) return `${paint.green('as expected')}  ${plainText(name)}`
  const lines = differences.map(difference => `  ${plainText(difference)}`)
  return [`${paint.red('not')}          ${plainText(name)}`, ...lines].join('\n')
}

/** Prints what a rule does, its settings, an example and the smallest change; without a rule, all rules in a line each. */
export async function policyExplain(
  id: string | undefined,
  options: { readonly color: boolean },
  terminal: Terminal = processTerminal(options.color ? undefined : false),
): Promise<number> {
  const paint = await loadPaint(terminal, 'stdout')
  if (id === undefined) {
    const all = [
      ...rules.map(rule => [rule.id, rule.explanation] as const),
      ...Object.entries(others).map(([name, text]) => [name, firstSentence(text)] as const),
    ]
    const width = Math.max(...all.map(([name]) => name.length))
    const lines = all.map(([name, text]) => `${paint.bold(name.padEnd(width))}  ${text}`)
    terminal.stdout.write(`${lines.join('\n')}\n`)
    return 0
  }
  const rule = rules.find(each => each.id === id)
  const text = rule === undefined ? ownEntry(others, id) : describeRule(rule)
  if (text === undefined) {
    const known = [...exemptibleRules, 'expired-exemption'].join(', ')
    throw new GpufareError(`${plainText(id)} is no rule`, 2, `rules are ${known}`)
  }
  terminal.stdout.write(`${paint.bold(id)}\n${text}\n`)
  return 0
}

function firstSentence(text: string): string {
  return text.slice(0, text.indexOf('. ') + 1).replaceAll('\n', ' ')
}

/** Settings that every rule has. */
const commonSettings = [
  'where: the jobs it is about, by cluster, path, team, gpu, tag; all where left out',
  'level: warn or deny',
  'self-exempt: true lets manifests exempt themselves even where it denies',
]

function describeRule(rule: Rule): string {
  return [
    rule.explanation,
    '',
    'Settings:',
    ...[...rule.settings, ...commonSettings].map(setting => `  ${setting}`),
    '',
    'In gpufare.yaml:',
    '  policies:',
    `    - ${rule.example}`,
    '',
    `Smallest change it proposes: ${rule.smallestChange}.`,
    '',
    `To let a job pass: #GPUFARE exempt=${rule.id} until 2026-12-31: REASON in the manifest, or under exemptions in gpufare.yaml.`,
  ].join('\n')
}

/** What findings are called that no policy names. */
const others: Readonly<Record<string, string>> = {
  budget: `What is spent in a period and what the jobs of a call cost are held against what a team may spend. Warns above
80 per cent, denies above 100; a job counts with its P90, or with what its time limit bounds.

In gpufare.yaml:
  budgets:
    - {team: vision, amount: 5000, period: month, spent: {from: sacct, account: vision}}

\`gpufare budget\` shows them all.`,
  'expired-exemption': `An exemption was good until a day that is over, and the job still breaks the rule. It denies: change the job, or give
the exemption a new last day or take it away.`,
}
