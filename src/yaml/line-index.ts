import type { Place } from '../errors.ts'

/** Offsets of one text turned into lines and columns; the index is made at the first question. */
export class LineIndex {
  readonly text: string
  readonly file: string
  private starts: number[] | undefined

  constructor(text: string, file: string) {
    this.text = text
    this.file = file
  }

  placeAt(offset: number): Place & { readonly line: number; readonly column: number } {
    const starts = this.lineStarts()
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { file: this.file, line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }

  private lineStarts(): number[] {
    if (this.starts !== undefined) return this.starts
    const starts = [0]
    for (let end = this.text.indexOf('\n'); end !== -1; end = this.text.indexOf('\n', end + 1)) starts.push(end + 1)
    this.starts = starts
    return starts
  }
}
