/** Whether a script is written for csh or tcsh, which much of molecular dynamics still is. */
export function isCshell(text: string): boolean {
  return /^#! *\S*(\/|env +)t?csh\b/.test(text)
}

/** A line of csh as bash would say it: what is matched, and what stands for it. */
type Saying = readonly [pattern: RegExp, say: (...parts: string[]) => string]

const SAYINGS: readonly Saying[] = [
  [/^setenv\s+(\w+)\s*(.*)$/, (name, value) => `export ${name}=${value}`],
  [/^set\s+(\w+)\s*=\s*\((.*)\)\s*$/, (name, list) => `${name}=(${list})`],
  [/^set\s+(\w+)\s*=\s*(.*)$/, (name, value) => `${name}=${value}`],
  [/^set\s+(\w+)\s*$/, name => `${name}=`],
  [/^unsetenv\s+(.*)$/, names => `unset ${names}`],
  [/^@\s*(.+)$/, expression => `(( ${expression} ))`],
  [/^foreach\s+(\w+)\s*\((.*)\)\s*$/, (name, list) => `for ${name} in ${list}; do`],
  [/^while\s*\((.*)\)\s*$/, condition => `while ${conditionOf(condition)}; do`],
  [/^else\s+if\s*\((.*)\)\s*then\s*$/, condition => `elif ${conditionOf(condition)}; then`],
  [/^if\s*\((.*)\)\s*then\s*$/, condition => `if ${conditionOf(condition)}; then`],
  [
    /^if\s*\(((?:[^()]|\([^()]*\))*)\)\s*(\S.*)$/,
    (condition, command) => `if ${conditionOf(condition)}; then ${sayLine(command)}; fi`,
  ],
  [/^endif\b.*$/, () => 'fi'],
  [/^end\s*$/, () => 'done'],
  [/^switch\s*\((.*)\)\s*$/, word => `case ${word.trim()} in`],
  [/^case\s+(.*):\s*$/, pattern => `${pattern})`],
  [/^default:\s*$/, () => '*)'],
  [/^breaksw\b.*$/, () => ';;'],
  [/^endsw\b.*$/, () => 'esac'],
  [/^(alias|unalias|limit|unlimit|rehash|onintr|nohup)\b.*$/, () => ':'],
]

/** A script of csh in the words of bash, line for line; what has no counterpart stays as it is. */
export function fromCshell(text: string): string {
  return text
    .split('\n')
    .map(line => {
      const indent = /^\s*/.exec(line)?.[0] ?? ''
      return indent + sayLine(line.slice(indent.length))
    })
    .join('\n')
}

function sayLine(line: string): string {
  for (const [pattern, say] of SAYINGS) {
    const match = pattern.exec(line)
    if (match !== null) return sayVariables(say(...match.slice(1)))
  }
  return line.startsWith('#') ? line : sayVariables(line)
}

/** Arguments are `$argv[1]`, and the first element of a list has the number 1. */
function sayVariables(line: string): string {
  return line
    .replace(/\$\{?argv\[(\d+)\]\}?/g, '$$$1')
    .replace(/\$#argv\b/g, '$$#')
    .replace(/\$\{?argv(\[\*\])?\}?(?!\w)/g, '$$@')
    .replace(
      /\$\{?([A-Za-z_]\w*)\[(\d+)\]\}?/g,
      (_, name: string, number: string) => `\${${name}[${Number(number) - 1}]}`,
    )
    .replace(/\$\{?([A-Za-z_]\w*)\[(\$\w+)\]\}?/g, (_, name: string, index: string) => `\${${name}[$((${index} - 1))]}`)
}

function conditionOf(written: string): string {
  const condition = written.trim()
  const given = /^(!?)\s*\$\?(\w+)$/.exec(condition)
  if (given !== null) return `[ ${given[1] === '!' ? '-z' : '-n'} "$${given[2]}" ]`
  if (/^!?\s*-[a-z]\s/.test(condition)) return `[ ${condition.replace(/^!\s*/, '! ')} ]`
  return /==|!=|=~|!~/.test(condition) ? `[[ ${condition} ]]` : `(( ${condition} ))`
}
