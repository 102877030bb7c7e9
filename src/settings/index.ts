import { parse as parseToml } from 'smol-toml'
import { readYaml } from '../document.ts'
import type { Origin } from '../sourced.ts'
import { readPythonSettings } from './python.ts'
import { flatten, type Settings } from './settings.ts'

/**
 * Reads a configuration by the ending of its name: YAML, JSON, TOML, or assignments of Python, which is never run. `origin`
 * is the file's; where that is a file, values get their lines. Undefined where the text is not of that format.
 */
export function readSettings(path: string, text: string, origin: Origin): Settings | undefined {
  try {
    if (/\.py$/.test(path)) return readPythonSettings(text, origin)
    if (/\.toml$/.test(path)) return flatten(parseToml(text), () => origin)
    return readYamlSettings(path, text, origin)
  } catch {
    return undefined
  }
}

/** JSON is YAML, too. Of several documents the first counts. */
function readYamlSettings(path: string, text: string, origin: Origin): Settings | undefined {
  const [document] = readYaml(text, path, 'yaml-1.2')
  if (document === undefined) return undefined
  return flatten(document.value, at =>
    origin.kind === 'file'
      ? { kind: 'file', place: { ...origin.place, ...lineOf(document.placeOf(at).line) } }
      : origin,
  )
}

function lineOf(line: number | undefined): { readonly line?: number } {
  return line === undefined ? {} : { line }
}
