import { plainText } from '../escaping.ts'

/** Breaks text, which may come from a manifest, at spaces so that no line is wider than `width`; each line begins with `indent`, or the first with `start`. A longer word stands alone. */
export function wrap(text: string, width: number, indent: string, start = indent): string[] {
  const lines: string[] = []
  let line = start
  let isEmpty = true
  for (const word of plainText(text).split(' ')) {
    const joined = isEmpty ? line + word : `${line} ${word}`
    if (joined.length > width && !isEmpty) {
      lines.push(line)
      line = indent + word
    } else {
      line = joined
    }
    isEmpty = false
  }
  return [...lines, line]
}
