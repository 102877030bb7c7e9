import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { policyExplain, policyTest } from '../../src/commands/policy.ts'
import { readYaml } from '../../src/document.ts'
import { exemptibleRules, policyRules } from '../../src/finding.ts'
import { PolicyRow } from '../../src/rulebook-schema.ts'
import { rules } from '../../src/rules/index.ts'
import { describeTerminal } from '../../src/terminal.ts'
import { makeFolder } from '../folders.ts'

function pretendTerminal() {
  const shown = { stdout: '' }
  const stdout = new PassThrough().on('data', chunk => {
    shown.stdout += chunk
  })
  const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() }
  return { terminal: describeTerminal(streams, { NO_COLOR: '1', HOME: makeFolder() }), shown }
}

/** Runs `gpufare policy test` on examples beside a gpufare.yaml. */
async function testPolicy(config: string, examples: string, options: { readonly policy?: string } = {}) {
  const folder = makeFolder()
  writeFileSync(join(folder, 'gpufare.yaml'), config)
  writeFileSync(join(folder, 'examples.yaml'), examples)
  writeFileSync(join(folder, 'train.sbatch'), '#!/bin/bash\n#SBATCH --gres=gpu:a100:4\nsrun python train.py\n')
  const { terminal, shown } = pretendTerminal()
  const exitCode = await policyTest([join(folder, 'examples.yaml')], { color: false, ...options }, terminal)
  return { exitCode, stdout: shown.stdout }
}

const config = 'policies: [{rule: gpu-count, limit: 2}, {rule: required-time-limit}]\n'
const expecting = (expect: string, more = '') =>
  `examples: [{name: four GPUs, file: train.sbatch, expect: ${expect}${more}}]\n`

describe('gpufare policy test', () => {
  test('ends with 0 where the policy finds what is expected, and nothing else', async () => {
    const { exitCode, stdout } = await testPolicy(config, expecting('{gpu-count: deny, required-time-limit: warn}'))
    expect(exitCode).toBe(0)
    expect(stdout).toContain('as expected  four GPUs')
  })

  test('ends with 1 and says what is missing, and what was found besides', async () => {
    const { exitCode, stdout } = await testPolicy(config, expecting('{gpu-count: warn, idle-gpus: warn}'))
    expect(exitCode).toBe(1)
    expect(stdout).toContain('idle-gpus: warn was expected')
    expect(stdout).toContain('gpu-count: found deny: 4 GPUs at one time is over 2')
    expect(stdout).toContain('required-time-limit: found warn')
    expect(stdout).toContain('1 example: 0 as expected, 1 not')
  })

  test('takes manifests as text, days, and what the base costs', async () => {
    const examples = `examples:
  - name: exempt until it is over
    manifest: |
      #!/bin/bash
      #SBATCH --gres=gpu:t4:1
      #GPUFARE exempt=required-time-limit until 2026-06-30: tried out
      sleep 1
    today: 2026-06-30
    expect: {required-time-limit: exempt}
  - name: dearer than the base
    manifest: |
      #!/bin/bash
      #SBATCH --gres=gpu:t4:1 --time=1:00:00
      #GPUFARE runtime=1h
      sleep 1
    before: 0.01
    expect: {cost-increase: deny}
`
    const policies = `policies: [{rule: cost-increase, limit: 0.01}, {rule: required-time-limit}]\n`
    expect(await testPolicy(policies, examples)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('2 as expected'),
    })
  })

  test('tests the policy that is named', async () => {
    const policy = join(makeFolder(), 'site.yaml')
    writeFileSync(policy, 'policies: [{rule: gpu-count, limit: 3, level: warn}]\n')
    expect(await testPolicy(config, expecting('{gpu-count: warn}'), { policy })).toMatchObject({ exitCode: 0 })
  })

  test('refuses examples that are none, and a configuration without policies', async () => {
    await expect(testPolicy(config, expecting('{gpu-counts: warn}'))).rejects.toThrow('gpu-counts')
    await expect(testPolicy(config, expecting('{}', ', manifest: x'))).rejects.toThrow('manifest or file is expected')
    await expect(testPolicy('team: x\n', expecting('{}'))).rejects.toThrow('no policy counts here')
  })
})

test('a file of examples that is not there is named, also where no policy counts', async () => {
  const { terminal } = pretendTerminal()
  await expect(policyTest([join(makeFolder(), 'nope.yaml')], { color: false }, terminal)).rejects.toThrow(
    /nope\.yaml.*there is no such file/,
  )
})

describe('gpufare policy explain', () => {
  async function explain(rule?: string) {
    const { terminal, shown } = pretendTerminal()
    await policyExplain(rule, { color: false }, terminal)
    return shown.stdout
  }

  test('names every rule that a policy can, and what findings are called that no policy names', async () => {
    const text = await explain()
    expect(
      text
        .trimEnd()
        .split('\n')
        .map(line => line.split(' ')[0]),
    ).toEqual([...rules.map(rule => rule.id), 'budget', 'expired-exemption'])
    expect(rules.map(rule => rule.id).sort()).toEqual([...policyRules].sort())
  })

  test.each(rules)('says of $id what it does, how it is set, and what it proposes', async rule => {
    const text = await explain(rule.id)
    for (const part of [rule.explanation, rule.example, rule.smallestChange, ...rule.settings])
      expect(text).toContain(part)
  })

  test.each(rules)('shows an example of $id that is a policy', rule => {
    const [document] = readYaml(rule.example, 'example', 'yaml-1.2')
    expect(PolicyRow.safeParse(document?.value)).toMatchObject({ success: true, data: { rule: rule.id } })
  })

  test('explains budgets and exemptions that are over', async () => {
    for (const id of [...exemptibleRules, 'expired-exemption'])
      expect(await explain(id)).toMatch(new RegExp(`^${id}\n.{40}`))
  })

  test('of a rule that there is not names those that there are', async () => {
    await expect(explain('job-costs')).rejects.toMatchObject({ exitCode: 2, hint: expect.stringContaining('job-cost') })
  })
})
