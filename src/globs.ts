/**
 * Whether a path fits a glob, as `.gitignore` writes them (gitignore(5), "Pattern format"): `*`, `?` and `[a-z]` within one name,
 * `**` over folders, and `{a,b}` for either; one without `/` fits at any depth, one that fits a folder fits all that is in it.
 * The work is bounded by the product of both lengths, whatever a repository writes.
 */
export function fitsGlob(path: string, glob: string): boolean {
  const names = path.split('/')
  return alternativesOf(glob).some(written => {
    const anyDepth = !written.replace(/\/$/, '').includes('/')
    const patterns = written
      .replace(/^\.?\//, '')
      .replace(/\/$/, '')
      .split('/')
    return matches([...(anyDepth ? ['**'] : []), ...patterns, '**'], names, '**', fitsName)
  })
}

/** More alternatives than these are nobody's intention. */
const mostAlternatives = 64

/** A glob with braces as all the globs that it stands for. */
function alternativesOf(glob: string): readonly string[] {
  let globs: readonly string[] = [glob]
  for (;;) {
    const opened = globs.flatMap(each => {
      const [braces, inner = ''] = /\{([^{}]*)\}/.exec(each) ?? []
      return braces === undefined ? [each] : inner.split(',').map(part => each.replace(braces, () => part))
    })
    if (opened.length > mostAlternatives || opened.every((each, index) => each === globs[index])) return globs
    globs = opened
  }
}

function fitsName(pattern: string, name: string): boolean {
  return matches(pattern.match(/\[!?[^\]]+\]|./gsu) ?? [], Array.from(name), '*', fitsCharacter)
}

function fitsCharacter(pattern: string, character: string): boolean {
  if (pattern === '?' || pattern === character) return true
  const [, not, set] = /^\[(!?)(.+)\]$/su.exec(pattern) ?? []
  if (set === undefined) return false
  const ranges = set.match(/.-.|./gsu) ?? []
  const isIn = ranges.some(range => {
    const [first = '', dash, last = first] = Array.from(range)
    return dash === undefined ? character === first : first <= character && character <= last
  })
  return isIn === (not === '')
}

/** Whether items fit patterns one by one, `any` standing for any number of items. What the last `any` takes is all that is ever retried. */
function matches(
  patterns: readonly string[],
  items: readonly string[],
  any: string,
  fits: (pattern: string, item: string) => boolean,
): boolean {
  let [at, next] = [0, 0]
  let retry: { readonly pattern: number; readonly item: number } | undefined
  while (at < items.length) {
    const pattern = patterns[next]
    const item = items[at]
    if (pattern === any) {
      retry = { pattern: ++next, item: at }
    } else if (pattern !== undefined && item !== undefined && fits(pattern, item)) {
      at++
      next++
    } else if (retry !== undefined) {
      retry = { pattern: retry.pattern, item: retry.item + 1 }
      at = retry.item
      next = retry.pattern
    } else return false
  }
  return patterns.slice(next).every(pattern => pattern === any)
}
