import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readProgress } from '../../src/logs/index.ts'
import { LearnedDocument } from '../../src/logs/schema.ts'
import { ExpectedProgress } from '../bench/logs/case-schema.ts'
import { gradeProgress } from '../bench/logs/grade.ts'

const folder = fileURLToPath(new URL('cases', import.meta.url))

/** What is right as well: SB3 prints no line when it ends; 1,939,703 sentences in 4,900 steps are 395.9 a step. */
const alsoRight: Readonly<Record<string, readonly string[]>> = {
  '10-sb3-ppo': ['outcome: running'],
  '33-opennmt-tok-per-s': ['global_batch: 396'],
}

describe('what a careful reader knows from a log', () => {
  test.each(readdirSync(folder))('%s', name => {
    const file = `${folder}/${name}/run.log`
    const expected = ExpectedProgress.parse(parse(readFileSync(`${folder}/${name}/expected.yaml`, 'utf8')))
    const progress = readProgress({ head: readFileSync(file) }, 'run.log')
    const document = JSON.parse(JSON.stringify({ schemaVersion: 1, logs: [{ file: 'run.log', ...progress }] }))
    const [log] = LearnedDocument.parse(document).logs
    if (log === undefined) throw new Error('no log')
    const { facts, warnings } = gradeProgress(expected, log)
    const wrong = facts.filter(
      ({ key, got, verdict }) => verdict !== 'right' && alsoRight[name]?.includes(`${key}: ${got}`) !== true,
    )
    expect({ wrong, notWarnedOf: warnings.missing }).toEqual({ wrong: [], notWarnedOf: [] })
  })
})
