#!/usr/bin/env node
// Answers --help and --version from what the build wrote down, else starts the bundle of the command that was typed.
// The bundle starts from a V8 code cache in the user's cache folder, which spares compiling it. The cache is never
// needed: whatever is wrong with it, the bundle is compiled as if it had not been there.
'use strict'
const { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync, writeSync } = require('node:fs')
const { basename, join } = require('node:path')

const dist = join(__dirname, '..', 'dist')
/** Bytes of a SHA-256 in hexadecimal digits. */
const hashLength = 64
const words = process.argv.slice(2)
const loaded = new Map()

if (Number.parseInt(process.versions.node, 10) < 20) {
  process.stderr.write(`gpufare needs Node.js 20 or newer, this is ${process.version}\n`)
  process.exitCode = 1
} else if (!answerFromHelp()) {
  start()
}

/** `--help`, `--version`, `COMMAND --help` and `help COMMAND`; all other ways of asking are commander's. */
function answerFromHelp() {
  const asks = word => word === '--help' || word === '-h'
  const last = words[words.length - 1]
  const asksVersion = words.length === 1 && (last === '--version' || last === '-V')
  const asksHelp = words.length <= 2 && (asks(last) || words[0] === 'help')
  if (!asksVersion && !asksHelp) return false
  const { version, texts } = JSON.parse(readFileSync(join(dist, 'help.json'), 'utf8'))
  const command = words.length === 1 ? '' : words[0] === 'help' ? last : words[0]
  const text = asksVersion ? `${version}\n` : texts[command]
  if (text === undefined) return false
  print(text)
  return true
}

/** Writes to stdout, without process.stdout where it can be, which takes longer to load than the rest of this file. */
function print(text) {
  const bytes = Buffer.from(text)
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(1, bytes, written)
  } catch {
    // a pipe that is full for the moment, or closed, is the stream's to deal with
    process.stdout.on('error', error => {
      if (error.code !== 'EPIPE') process.exitCode = 1
    })
    process.stdout.write(bytes.subarray(written))
  }
}

function start() {
  // Node would print the line of the bundle, which is as long as the bundle.
  process.on('uncaughtException', error => {
    const trace = error instanceof Error ? error.stack : String(error)
    process.stderr.write(`${trace}\ngpufare: this is a fault in gpufare; report it with these lines\n`)
    process.exit(1)
  })
  const [command = ''] = words
  const hasBundle = /^[a-z-]+$/.test(command) && existsSync(join(dist, `${command}.js`))
  const { run } = load(hasBundle ? command : 'gpufare')
  run(words).then(exitCode => {
    process.exitCode = exitCode
  })
}

/** What a bundle of dist/ exports, evaluated once. */
function load(name) {
  if (!loaded.has(name)) loaded.set(name, evaluate(join(dist, `${name}.js`)))
  return loaded.get(name)
}

/** What require(file) would give, by way of the code cache. A bundle is the function that Node.js would wrap around a module. */
function evaluate(file) {
  const { Script } = require('node:vm')
  const source = readFileSync(file)
  const cache = openCache(file, source)
  // the build makes ASCII only, which is quicker to read as Latin-1
  const script = new Script(source.latin1Slice(), { filename: file, cachedData: cache?.read() })
  const requireThere = name => (name.startsWith('./') ? load(name.slice('./'.length)) : require(name))
  const module = { exports: {} }
  script.runInThisContext()(module.exports, requireThere, module, file, dist)
  // made at the end, when it holds every function that the run has needed
  if (cache && script.cachedDataRejected !== false) process.once('exit', () => cache.write(script.createCachedData()))
  return module.exports
}

/**
 * The cache file for a bundle: the bundle's own SHA-256, which is its last line, then the payload, twice. V8 compares only
 * the length of the source and would run a payload that is corrupt; comparing two copies is done sooner than node:crypto is
 * loaded. Undefined where there is no folder to keep it in.
 */
function openCache(file, source) {
  const { XDG_CACHE_HOME: xdg, HOME: home } = process.env
  const caches = xdg?.startsWith('/') ? xdg : home?.startsWith('/') ? join(home, '.cache') : undefined
  if (caches === undefined || typeof process.getuid !== 'function') return undefined
  const folder = join(caches, 'gpufare')
  // scripts and YAML need different halves of a bundle, so each has a cache of its own
  const half = words.some(word => /\.(ya?ml|json)$/.test(word)) ? 'yaml' : 'script'
  const path = join(folder, `${basename(file, '.js')}-${half}-${process.version}-${process.arch}`)
  const stamp = source.subarray(-hashLength)
  const isOurs = () => {
    const { uid, mode } = statSync(folder)
    return uid === process.getuid() && (mode & 0o022) === 0
  }
  return {
    read() {
      try {
        if (!isOurs()) return undefined
        const kept = readFileSync(path)
        const end = (kept.length + hashLength) / 2
        const payload = kept.subarray(hashLength, end)
        const isWhole = payload.length > 0 && payload.equals(kept.subarray(end))
        return isWhole && stamp.equals(kept.subarray(0, hashLength)) ? payload : undefined
      } catch {
        return undefined
      }
    },
    write(payload) {
      const unfinished = `${path}.${process.pid}`
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        if (!isOurs()) return
        writeFileSync(unfinished, Buffer.concat([stamp, payload, payload]), { mode: 0o600, flag: 'wx' })
        renameSync(unfinished, path)
      } catch {
        // a full disk or a read-only home is no reason to say anything
      }
    },
  }
}
