import { expect, it } from 'vitest'
import { readProgress } from '../src/logs/index.ts'
import { Steadiness } from '../src/steadiness.ts'

/** What a log shows whose steps took so many seconds each, one report a step. */
function lookAt(...seconds: readonly number[]) {
  let clock = Date.UTC(2026, 0, 5, 10)
  const lines = seconds.map((each, index) => {
    clock += each * 1_000
    return `${new Date(clock).toISOString().slice(0, 23)} INFO step ${index + 1}/5000 loss 2.5`
  })
  return readProgress({ head: new TextEncoder().encode(`${lines.join('\n')}\n`) }, 'probe.out')
}

const steps = (count: number, seconds: number) => Array<number>(count).fill(seconds)

it('a rate is steady when three looks that saw further steps agree', () => {
  const steadiness = new Steadiness()
  const looks = [20, 30, 40].map(count => steadiness.look(lookAt(...steps(count, 2))))
  expect(looks).toEqual([false, false, true])
})

it('a look that saw no further step does not count', () => {
  const steadiness = new Steadiness()
  const looks = [20, 20, 20, 20].map(count => steadiness.look(lookAt(...steps(count, 2))))
  expect(looks).toEqual([false, false, false, false])
})

it('a rate that still changes is not steady', () => {
  const steadiness = new Steadiness()
  const looks = [1, 2, 3, 4].map(times => steadiness.look(lookAt(...steps(20 * times, 2 * 1.2 ** times))))
  expect(looks).toEqual([false, false, false, false])
})

it('nothing is steady of which nothing is known', () => {
  const steadiness = new Steadiness()
  const empty = readProgress({ head: new TextEncoder().encode('hello\n') }, 'probe.out')
  expect([1, 2, 3].map(() => steadiness.look(empty))).toEqual([false, false, false])
})
