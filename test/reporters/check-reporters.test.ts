import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import ajvDraft04 from 'ajv-draft-04'
import fc from 'fast-check'
import { marked } from 'marked'
import { SaxesParser } from 'saxes'
import { describe, expect, test } from 'vitest'
import type { CheckReport } from '../../src/check-report.ts'
import { checkReporters, findCheckReporter } from '../../src/reporters/check-reporters.ts'
import { plainPaint } from '../../src/terminal.ts'
import { type CheckFormat, checkFormats } from '../../src/wanted-formats.ts'
import {
  brokenReport,
  changeOf,
  checkedJobOf,
  findingOf,
  fullReport,
  hostileNames,
  hostileReport,
  reportOf,
} from './check-builders.ts'

function render(name: CheckFormat, report: CheckReport, maxCharacters?: number): string {
  return findCheckReporter(name).render(report, {
    width: 80,
    paint: plainPaint,
    ...(maxCharacters !== undefined && { maxCharacters }),
  })
}

/** Formats that other programs show, with the endings of their files. */
const extensions = {
  markdown: 'md',
  github: 'txt',
  sarif: 'sarif',
  junit: 'xml',
  'code-quality': 'json',
  csv: 'csv',
  html: 'html',
} as const

test('every format that can be asked for has its reporter, in the same order', () => {
  expect(checkReporters.map(({ name }) => name)).toEqual(checkFormats)
})

/** Reports that must not break anything: every kind of outcome, nothing at all, and every hostile name. */
const samples: readonly (readonly [string, CheckReport])[] = [
  ['everything', fullReport],
  ['broken manifests', brokenReport],
  ['nothing', reportOf({ jobs: [], filesWithJobs: 0, jobsPriced: 0 })],
  ...hostileNames.map(name => [JSON.stringify(name), hostileReport(name)] as const),
]

describe('the whole text', () => {
  test.each(checkFormats.filter(name => name !== 'table' && name !== 'json'))('%s', async name => {
    await expect(`${render(name, fullReport)}\n`).toMatchFileSnapshot(`snapshots/check.${extensions[name]}`)
  })

  test('markdown of manifests that cannot be read', async () => {
    await expect(`${render('markdown', brokenReport)}\n`).toMatchFileSnapshot('snapshots/check-broken.md')
  })
})

describe('Markdown', () => {
  test('begins with the marker and the verdict', () => {
    expect(render('markdown', fullReport)).toMatch(
      /^<!-- gpufare -->\n### GPU cost: over the limit\n\n\*\*1 finding stops it\.\*\*/,
    )
  })

  test('without a base lists jobs, with one their differences', () => {
    expect(render('markdown', reportOf())).toContain('| job | GPUs | runtime | cost | basis |')
    const base = { revision: 'main', changes: [changeOf(undefined, checkedJobOf())] }
    expect(render('markdown', reportOf({ base }))).toContain('| new | $88 | +$88 |')
  })

  const many = reportOf({
    verdict: 'deny',
    jobs: Array.from({ length: 2_000 }, (_, index) => checkedJobOf({ name: `job-${index}` })),
    findings: Array.from({ length: 300 }, (_, index) => findingOf({ jobName: `job-${index}` })),
  })

  test.each([32_768, 65_536, 150_000, 1_000_000])('stays within %i characters and says what is left out', limit => {
    const text = render('markdown', many, limit)
    expect(text.length).toBeLessThanOrEqual(limit)
    expect(text).toContain('300 findings stop it')
    const leftOut = /(\d+) of 2000 jobs left out: the text would be too long\./.exec(text)
    expect(Number(leftOut?.[1])).toBeGreaterThan(0)
  })

  test('keeps findings longer than jobs, and both longer than what is folded away', () => {
    const text = render('markdown', many, 65_536)
    expect(text.match(/\*\*job-cost\*\*/g)).toHaveLength(300)
    expect(text).toContain('2000 of 2000 jobs left out')
  })

  test('with less than any item takes it still has verdict and counts', () => {
    expect(render('markdown', many, 100)).toMatch(
      /over the limit\n[\s\S]*300 of 300 findings left out[\s\S]*12 files looked at/,
    )
  })

  test('a name as long as a file does not fill it', () => {
    expect(render('markdown', hostileReport('x'.repeat(1_000_000))).length).toBeLessThan(65_536)
  })

  test.each(hostileNames)('keeps its shape with the name %j', name => {
    const text = render('markdown', hostileReport(name))
    const elements = (markdown: string) => marked.parse(markdown, { async: false }).match(/<[!/]?[a-z-][^>]*>/gi)
    expect(elements(text)).toEqual(elements(render('markdown', hostileReport('name'))))
    expect(text.match(/<!--/g)).toHaveLength(1)
    expect(text).not.toMatch(/(?<!\\)[`[]|@\w|(?<!&)#\d|https?:\/\//)
  })
})

describe('SARIF', () => {
  const schema = JSON.parse(readFileSync(new URL('schemas/sarif-2.1.0-rtm.5.json', import.meta.url), 'utf8'))
  const validate = new ajvDraft04.default({
    strict: false,
    validateFormats: false,
    unicodeRegExp: false,
    allErrors: true,
  }).compile(schema)

  test.each(samples)('is valid against the schema of 2.1.0 for %s', (_, report) => {
    validate(JSON.parse(render('sarif', report)))
    expect(validate.errors ?? []).toEqual([])
  })

  test('a schema that refuses what is wrong says so', () => {
    expect(validate({ version: '2.1.0', runs: [{ results: [] }] })).toBe(false)
  })

  test('puts a finding on its line, and what was let pass under suppressions', () => {
    const [run] = JSON.parse(render('sarif', fullReport)).runs
    expect(run.results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'jobs/train.sbatch' },
      region: { startLine: 12, startColumn: 3 },
    })
    expect(run.results[2].suppressions[0]).toMatchObject({ kind: 'inSource', status: 'accepted' })
  })

  test.each([
    ['my jobs/a#1?.yaml', 'my%20jobs/a%231%3F.yaml'],
    ['./a.yaml', 'a.yaml'],
    ['/srv/a.yaml', 'file:///srv/a.yaml'],
    ['jobs\\a.yaml', 'jobs/a.yaml'],
  ])('writes the path %s as %s', (file, uri) => {
    const [run] = JSON.parse(render('sarif', reportOf({ findings: [findingOf({ place: { file, line: 1 } })] }))).runs
    expect(run.results[0].locations[0].physicalLocation.artifactLocation.uri).toBe(uri)
  })

  test('fingerprints stay when lines move or figures change, and tell all findings apart', () => {
    const printsOf = (findings: CheckReport['findings']) =>
      JSON.parse(render('sarif', reportOf({ findings }))).runs[0].results.map(
        (result: { partialFingerprints: Readonly<Record<string, string>> }) => result.partialFingerprints['gpufare/v1'],
      )
    const moved = findingOf({ place: { file: 'jobs/train.sbatch', line: 40 }, message: '$99 (P50) is over $50' })
    expect(printsOf([findingOf()])).toEqual(printsOf([moved]))
    expect(new Set(printsOf([findingOf(), findingOf(), findingOf({ rule: 'other' })])).size).toBe(3)
  })
})

describe('JUnit XML', () => {
  function parse(xml: string): { readonly elements: readonly string[]; readonly counts: string } {
    const elements: string[] = []
    const parser = new SaxesParser({ fileName: 'junit.xml' })
    parser.on('error', error => {
      throw error
    })
    parser.on('opentag', ({ name }) => elements.push(name))
    parser.write(xml).close()
    return { elements, counts: /<testsuites [^>]*>/.exec(xml)?.[0] ?? '' }
  }

  test.each(samples)('is well-formed for %s', (_, report) => {
    expect(parse(render('junit', report)).elements[0]).toBe('testsuites')
  })

  test('counts what it holds', () => {
    const { elements, counts } = parse(render('junit', fullReport))
    const count = (name: string) => elements.filter(each => each === name).length
    expect(counts).toContain(
      `tests="${count('testcase')}" failures="${count('failure')}" errors="0" skipped="${count('skipped')}"`,
    )
    expect([count('testcase'), count('failure'), count('skipped')]).toEqual([5, 1, 2])
  })

  test('has no element more for a name that looks like one', () => {
    for (const name of hostileNames) {
      expect(parse(render('junit', hostileReport(name))).elements).toEqual(
        parse(render('junit', hostileReport('x'))).elements,
      )
    }
  })
})

describe('annotations of GitHub', () => {
  test('come worst first, each on its line', () => {
    const commands = render('github', fullReport)
      .split('\n')
      .slice(1)
      .map(line => line.replace(/,title=.*/, ''))
    expect(commands).toEqual([
      '::error file=jobs/train.sbatch,line=4',
      '::warning file=jobs/train.sbatch,line=12,col=3',
      '::notice file=jobs/sweep.sbatch,line=2',
    ])
  })

  test.each(hostileNames)('a name like %j orders nothing', name => {
    const lines = render('github', hostileReport(name)).split('\n')
    expect(lines).toHaveLength(4)
    // as the runner reads them: properties end at the first :: behind the command, and are split at commas
    for (const line of lines.slice(1)) expect(line).toMatch(/^::(error|notice) file=[^,:]*,line=3,title=[^,:]*::/)
    expect(lines.join('\n')).not.toMatch(/##(vso)?\[/)
  })
})

describe("GitLab's code quality report", () => {
  test.each(samples)('has what GitLab asks of each violation, for %s', (_, report) => {
    const violations = JSON.parse(render('code-quality', report))
    for (const violation of violations) {
      expect(violation).toEqual({
        description: expect.any(String),
        check_name: expect.any(String),
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
        severity: expect.stringMatching(/^(info|minor|major|critical|blocker)$/),
        location: { path: expect.any(String), lines: { begin: expect.any(Number) } },
      })
    }
    const fingerprints = violations.map((violation: { fingerprint: string }) => violation.fingerprint)
    expect(new Set(fingerprints).size).toBe(fingerprints.length)
  })

  test('leaves out what was let pass', () => {
    expect(JSON.parse(render('code-quality', fullReport))).toHaveLength(2)
  })
})

describe('CSV', () => {
  test.each(hostileNames)('has as many cells as columns, and no formula, with the name %j', name => {
    const [head = '', ...rows] = render('csv', hostileReport(name)).split('\n')
    expect(rows).toHaveLength(1)
    const cells = rows[0]?.match(/("([^"]|"")*"|[^,]*)(,|$)/g)?.slice(0, -1) ?? []
    expect(cells).toHaveLength(head.split(',').length)
    expect(cells.filter(cell => /^"?\s*[=+@\t]|^"?-\D/.test(cell))).toEqual([])
  })
})

describe('HTML', () => {
  const page = render('html', fullReport)

  test('allows only its own style and script, by their hashes', () => {
    for (const tag of ['style', 'script']) {
      const content = page.split(`<${tag}>`)[1]?.split(`</${tag}>`)[0] ?? ''
      const hash = createHash('sha256').update(content).digest('base64')
      expect(page).toContain(`${tag}-src 'sha256-${hash}'`)
    }
  })

  test('asks for nothing from anywhere', () => {
    expect(page).not.toMatch(/https?:|\bsrc=|<link|url\(|@import/)
  })

  test.each(hostileNames)('has the same elements with the name %j', name => {
    const elements = (html: string) => html.match(/<\/?[a-z!][a-z0-9]*/gi)
    expect(elements(render('html', hostileReport(name)))).toEqual(elements(render('html', hostileReport('x'))))
  })
})

test('no report lets through a control, a turned direction or a command of a build machine, whatever a name is', () => {
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...hostileNames), fc.string({ unit: 'binary' })), name => {
      for (const reporter of checkReporters) {
        const text = reporter.render(hostileReport(name), { width: 80, paint: plainPaint })
        expect(text).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]|##(vso)?\[/u)
        if (reporter.name !== 'github') expect(text).not.toMatch(/^\s*::/m)
      }
    }),
    { numRuns: 50 },
  )
})
