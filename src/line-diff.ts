/** Unchanged lines shown around a change. */
const contextLines = 3
/** Above this many pairs of changed lines a comparison would be felt, and the change is shown as one block. */
const pairsCompared = 4_000_000

/** A line of both texts, or of one. */
interface Step {
  readonly sign: ' ' | '-' | '+'
  readonly line: string
}

/** The change from one text to another in unified form (`diff -u`), without its two head lines; empty where they are equal. */
export function diffLines(before: string, after: string): readonly string[] {
  return hunksOf(stepsBetween(linesOf(before), linesOf(after)))
}

/** Each line with its line break, which the last one may lack. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Common ends first, which is nearly everything; what is between goes by its longest common subsequence. */
function stepsBetween(before: readonly string[], after: readonly string[]): readonly Step[] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  let tail = 0
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  return [
    ...before.slice(0, head).map(keep),
    ...changesBetween(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(keep),
  ]
}

function changesBetween(before: readonly string[], after: readonly string[]): readonly Step[] {
  if (before.length * after.length > pairsCompared) return [...before.map(remove), ...after.map(add)]
  // common[i][j]: length of the longest common subsequence of before from i on and after from j on
  const common = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1))
  const lengthAt = (i: number, j: number) => common[i]?.[j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    const row = common[i]
    if (row === undefined) continue
    for (let j = after.length - 1; j >= 0; j--) {
      row[j] = before[i] === after[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
    }
  }
  const steps: Step[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    const removed = before[i]
    const added = after[j]
    if (removed !== undefined && removed === added) {
      steps.push(keep(removed))
      i++
      j++
    } else if (removed !== undefined && (added === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      steps.push(remove(removed))
      i++
    } else if (added !== undefined) {
      steps.push(add(added))
      j++
    }
  }
  return steps
}

function hunksOf(steps: readonly Step[]): readonly string[] {
  const changed = steps.flatMap((step, index) => (step.sign === ' ' ? [] : [index]))
  const lines: string[] = []
  for (let at = 0; at < changed.length; ) {
    const first = changed[at] ?? 0
    let last = first
    // changes whose surroundings touch share a hunk
    for (; at < changed.length && (changed[at] ?? 0) - last <= 2 * contextLines + 1; at++) last = changed[at] ?? last
    const from = Math.max(0, first - contextLines)
    const hunk = steps.slice(from, last + contextLines + 1)
    lines.push(headOf(hunk, steps.slice(0, from)), ...hunk.flatMap(writeStep))
  }
  return lines
}

function writeStep({ sign, line }: Step): readonly string[] {
  return line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file']
}

/** `@@ -3,7 +3,8 @@`: first line and number of lines before and after. */
function headOf(hunk: readonly Step[], earlier: readonly Step[]): string {
  const span = (other: '-' | '+') => {
    const countIn = (steps: readonly Step[]) => steps.filter(step => step.sign !== other).length
    return `${countIn(earlier) + 1},${countIn(hunk)}`
  }
  return `@@ -${span('+')} +${span('-')} @@`
}

function keep(line: string): Step {
  return { sign: ' ', line }
}

function remove(line: string): Step {
  return { sign: '-', line }
}

function add(line: string): Step {
  return { sign: '+', line }
}
