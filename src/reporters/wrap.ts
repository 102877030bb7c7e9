/** Breaks text at spaces so that no line is wider than `width`; each line begins with `indent`. A longer word stands alone. */
export function wrap(text: string, width: number, indent: string): string[] {
  const lines: string[] = []
  let line = indent
  for (const word of text.split(' ')) {
    const joined = line === indent ? line + word : `${line} ${word}`
    if (joined.length > width && line !== indent) {
      lines.push(line)
      line = indent + word
    } else {
      line = joined
    }
  }
  return [...lines, line]
}
