import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GpufareError } from '../errors.ts'
import { readIntegration } from '../integrations.ts'
import { quoteForShell } from '../programs.ts'
import type { HookHome } from './hook-home.ts'

/** How gpufare is started: node, and the program's file. */
export type Itself = readonly [node: string, program: string]

const lineOfOurs = "gpufare: don't edit, this line tells that nobody did"
const toCallByHand = 'have it run this line: gpufare hook run "$@"   (the refs come on its standard input)'

/**
 * A script in git's hooks folder. It starts gpufare by the paths it was installed with, since a graphical git has hardly a
 * PATH; a folder of the work tree is committed, so there (`itself` undefined) PATH alone counts.
 */
export function plainHook(folder: string, itself: Itself | undefined): HookHome {
  const path = join(folder, 'pre-push')
  const earlier = join(folder, 'pre-push.before-gpufare')
  const wanted = hookScript(itself)
  return {
    title: 'git',
    state() {
      const found = read(path)
      if (found === undefined) return { installed: false, words: [`no hook at ${path}`] }
      if (!isOurs(found)) return { installed: false, words: [`the hook at ${path} is not gpufare's`] }
      return {
        installed: true,
        words: [
          `${path} starts ${describeStart(found)}`,
          ...(isThere(earlier) ? [`first it runs ${earlier}, which was there before`] : []),
          ...(isUntouched(found) ? [] : ['it was edited since it was installed']),
        ],
      }
    },
    install() {
      const found = read(path)
      if (found === wanted) return [`already installed: ${path}`]
      if (found !== undefined && isOurs(found)) {
        refuseIfEdited(path, found)
        write(path, wanted)
        return [`renewed ${path}`]
      }
      const kept = isThere(path)
      if (kept) refuseIfNotChainable(path, earlier, found)
      mkdirSync(folder, { recursive: true })
      // made aside first, so that there is a hook at any moment
      write(`${path}.new`, wanted)
      if (kept) renameSync(path, earlier)
      renameSync(`${path}.new`, path)
      return [
        `installed ${path}`,
        ...(kept ? [`the hook that was there runs first, and is kept as ${earlier}`] : []),
        ...(itself === undefined ? ['it is part of the work tree: commit it; gpufare is looked for on PATH'] : []),
      ]
    },
    uninstall() {
      const found = read(path)
      if (found === undefined || !isOurs(found)) return [`nothing to take away at ${path}`]
      refuseIfEdited(path, found)
      if (isThere(earlier)) renameSync(earlier, path)
      else rmSync(path)
      return [`took away ${path}`, ...(isThere(path) ? ['the hook that was there before is back'] : [])]
    },
  }
}

/** The script with the paths it was installed with, and a last line that holds the hash of all lines above it. */
function hookScript(itself: Itself | undefined): string {
  const [node, program] = (itself ?? ['', '']).map(quoteForShell)
  const text = readIntegration('pre-push')
    .replace(/^node=.*$/m, () => `node=${node}`)
    .replace(/^program=.*$/m, () => `program=${program}`)
  return `${text}# ${hashOf(text)} ${lineOfOurs}\n`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function isOurs(script: string): boolean {
  return script.includes(lineOfOurs)
}

function isUntouched(script: string): boolean {
  const [, text = '', hash] = /^(.*\n)# (\w+) [^\n]*\n$/s.exec(script) ?? []
  return hashOf(text) === hash
}

function describeStart(script: string): string {
  const [, program = ''] = /(?<=\n)program=(.*?)\n\n/s.exec(script) ?? []
  return /^'?'?$/.test(program) ? 'the gpufare on PATH' : program
}

function refuseIfEdited(path: string, script: string): void {
  if (isUntouched(script)) return
  throw new GpufareError(`${path} was edited since gpufare wrote it`, 2, 'take your lines out of it, or delete it')
}

/** A script can be run under another name from another hook; what depends on its own name can't. */
function refuseIfNotChainable(path: string, earlier: string, script: string | undefined): void {
  if (isThere(earlier)) {
    throw new GpufareError(`${path} would be kept as ${earlier}, and there is such a file`, 2, 'move one of them away')
  }
  const reason =
    script === undefined
      ? 'cannot be read'
      : !script.startsWith('#!')
        ? 'is no script'
        : looksAtItsName(script)
          ? 'looks at its own name, and would have another'
          : undefined
  if (reason !== undefined)
    throw new GpufareError(`the hook at ${path} ${reason}: it is left as it is`, 2, toCallByHand)
}

/** Git LFS only says its name, in the message that it is missing. */
function looksAtItsName(script: string): boolean {
  return /basename[^\n]*\$\{?0|\$\{0##/.test(script) && !/^git lfs pre-push "\$@"$/m.test(script)
}

function write(path: string, script: string): void {
  writeFileSync(path, script)
  chmodSync(path, 0o755)
}

/** Undefined where there is nothing that can be read. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** A link that leads nowhere is there, too. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
