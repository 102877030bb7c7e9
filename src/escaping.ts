/**
 * Characters that show nothing and change what others show: controls (ANSI escapes begin with one), marks that turn the
 * direction of text, invisible joiners, line separators, and halves of a pair. `train` and a name that only looks like it
 * must be told apart (Trojan Source, CVE-2021-42574).
 */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Line breaks and tabs that a name may hold. */
const breaks = /[\t\n\v\f\r\u0085]+/g

/**
 * One line of text that shows all it holds and can order nothing: what cannot be seen is spelled out (`\u001b`), and what
 * build machines take for a command is broken up. GitHub's runner obeys lines that begin with `::name` and any line with `##[name]`
 * in it (actions/runner, ActionCommand.cs), Azure's `##vso[`, TeamCity `##teamcity[`.
 */
export function plainText(text: string): string {
  return text
    .replace(breaks, ' ')
    .replace(unseen, spellOut)
    .replace(/(^|\s)::(?=[\w-]+(\s[^:]*)?::)/g, '$1: :')
    .replace(/##(?=[\w-]*\[)/g, '# #')
}

/** Sentences, one a line, each as plain text. */
export function plainLines(text: string): string {
  return text.split('\n').map(plainText).join('\n')
}

/** JSON that means the same and orders nothing: what JSON itself leaves as it is (8-bit controls, direction marks, `##[`) is spelled out. */
export function visibleJson(json: string): string {
  return json
    .replace(unseen, character => (character === '\n' ? character : spellOut(character)))
    .replace(/##(?=[\w-]*\[)/g, '#\\u0023')
}

function spellOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * Text within a line or a table cell of Markdown that stays text: no markup, no HTML, no link, no formula (`$`), and nobody is
 * notified (`@name`, `#12`). Understood alike by GitHub, GitLab, Bitbucket and Azure, which all follow CommonMark in escapes.
 */
export function markdownText(text: string): string {
  return plainText(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*_[\]|~^]/g, '\\$&')
    .replace(/^(\s*)([-+](?=[\s-]|$)|#(?=[\s#]|$))/, '$1\\$2')
    .replace(/^(\s*\d+)(?=[.)](\s|$))/, '$1\\')
    .replace(/[@#!](?=\w)/g, '$&&#8203;')
    .replace(/(?<=\bwww)\.|:(?=\/\/)/gi, '$&&#8203;')
    .replace(/(?<=\S)(?<!^[+-])\$/g, '&#36;')
}

/** Text of an element of HTML, SVG or XML, or of an attribute between quotes; what XML 1.0 forbids is spelled out. */
export function htmlText(text: string): string {
  return plainText(text).replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/**
 * A cell of CSV (RFC 4180). Text that a spreadsheet would take for a formula is preceded by an apostrophe
 * (OWASP, CSV Injection); numbers are none.
 */
export function csvCell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = plainText(value)
  const guarded = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20|%]/.test(text) ? `'${text}` : text
  return /[",;']/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}

/** The message of a workflow command (actions/toolkit, packages/core/src/command.ts: `%`, CR and LF). */
export function workflowMessage(text: string): string {
  return plainText(text).replaceAll('%', '%25')
}

/** A property of a workflow command, which ends at a comma or colon as well. */
export function workflowProperty(text: string): string {
  return workflowMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
