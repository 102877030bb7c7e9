import { parse as parseToml } from 'smol-toml'
import { readYaml } from '../document.ts'
import type { Origin } from '../sourced.ts'
import { readPythonSettings } from './python.ts'
import { flatten, type Settings } from './settings.ts'

/** What was read last: each reader of frameworks asks for the same configuration, some of them several times. */
const known = new Map<string, Settings | undefined>()
const mostKnown = 20

/**
 * Reads a configuration by the ending of its name: YAML, JSON, TOML, or assignments of Python, which is never run. `origin`
 * is the file's; where that is a file, values get their lines. Undefined where the text is not of that format.
 */
export function readSettings(path: string, text: string, origin: Origin): Settings | undefined {
  const key = JSON.stringify([path, origin, text])
  if (known.has(key)) return known.get(key)
  const settings = readAnew(path, text, origin)
  if (known.size >= mostKnown) known.clear()
  known.set(key, settings)
  return settings
}

function readAnew(path: string, text: string, origin: Origin): Settings | undefined {
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
