import { readProgress } from '../../src/logs/index.ts'
import { type ProgressFigure, progressFigures } from '../../src/logs/run.ts'
import type { RunProgress } from '../../src/logs/run-progress.ts'

/** What a log of these lines tells. */
export function progressIn(text: string): RunProgress {
  return readProgress({ head: new TextEncoder().encode(text) }, 'run.log')
}

/** The figures alone, without their origins. */
export function figuresIn(progress: RunProgress): Partial<Record<ProgressFigure, number>> {
  return Object.fromEntries(
    progressFigures.flatMap(name => (progress[name] === undefined ? [] : [[name, progress[name].value]])),
  )
}

/** The codes of the warnings. */
export function codesIn({ warnings }: RunProgress): readonly string[] {
  return warnings.map(({ code }) => code)
}

/** Lines made of a counter. */
export function linesOf(from: number, to: number, stride: number, line: (count: number) => string): string {
  const lines: string[] = []
  for (let count = from; count <= to; count += stride) lines.push(line(count))
  return `${lines.join('\n')}\n`
}

/** `2024-05-03 10:00:00` and so many seconds later. */
export function stampAt(seconds: number): string {
  return new Date(Date.UTC(2024, 4, 3, 10) + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
}
