import { expect, test } from 'vitest'
import { checkedJobOf } from '../src/checked-jobs.ts'
import { emptyConfig } from '../src/config.ts'
import { quoteCandidate } from '../src/quote.ts'
import { anotherCandidate } from '../src/rules/remedies.ts'
import { subjectOf } from '../src/rules/subject.ts'
import { sourced } from '../src/sourced.ts'
import { candidateOf, fareWith, gpuOf, hours, jobOf, machineOf, placementOf, pricesOf, roleOf } from './builders.ts'

test('a candidate that the time limit stops before it is done is neither listed nor proposed, however little it then costs', () => {
  const limit = sourced(5 * 3_600, { kind: 'manifest', place: { file: 'job.sbatch', line: 3 } } as const)
  const job = jobOf({ roles: [roleOf({ timeLimitSeconds: limit })] })
  const prices = pricesOf({ '8xa100': 22, '8xt4': 8, '8xl40s': 20 })
  const quoteOn = (name: string, needed: number, more = {}) =>
    quoteCandidate(
      job,
      candidateOf(placementOf(machineOf(gpuOf(name), 8), 8), more),
      hours(needed, needed, needed),
      'on-demand',
      prices,
    )
  // Stopped after 5 h the T4s cost $40; the A100s are done for $88, the L40S for $80.
  const fare = fareWith([quoteOn('a100', 4, { asRequested: true }), quoteOn('t4', 20), quoteOn('l40s', 4)], { job })
  expect(checkedJobOf(fare, emptyConfig).candidates.map(({ gpus }) => gpus)).toEqual(['8x A100', '8x L40S'])
  const subject = subjectOf(fare, emptyConfig, { today: '2026-11-30' })
  expect(anotherCandidate(subject, quote => quote.candidate.placements[0]?.gpu.name === 't4')).toBeUndefined()
  expect(anotherCandidate(subject, () => true)).toBe('on 8x L40S it would cost about $80 in 4h00m')
})
