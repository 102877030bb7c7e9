/** Lines that gpufare keeps in somebody else's file stand between these, so that they can be taken out again. */
const block = /^# gpufare: begin.*\n(?:.*\n)*?# gpufare: end\n/m

/** The lines between gpufare's marks, marks included; undefined where there are none. */
export function findBlock(text: string): string | undefined {
  return block.exec(text)?.[0]
}

/** The text as it was before the block came in. */
export function withoutBlock(text: string): string {
  return text.replace(block, '')
}
