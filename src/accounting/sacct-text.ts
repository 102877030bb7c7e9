import { GpufareError } from '../errors.ts'
import type { EarlierRun } from '../history/earlier-run.ts'
import { digestOf } from './digest.ts'
import { clockSeconds, countOfTres, gpusOfTres, limitOf, positive, stateOf, timeSeconds } from './fields.ts'
import { joinRecords, type RunRecord } from './records.ts'
import type { ReadRuns, RunFormat } from './run-format.ts'

/** Columns whose text is the user's own: a delimiter or a line break in it is not quoted. */
const freeText = ['JobName', 'SubmitLine', 'WorkDir', 'Comment', 'AdminComment', 'SystemComment']

/** Text of `sacct --parsable` or `--parsable2` with its head line and any `--delimiter`. */
export const sacctText: RunFormat = {
  name: 'sacct',
  accepts: ([file]) => file !== undefined && headOf(file.text) !== undefined,
  read: ([file]) => readSacct(file?.text ?? ''),
}

/** Runs of what sacct printed. Steps, and runs that have not started or not ended, are left out. */
export function readSacct(text: string): ReadRuns {
  const head = headOf(text)
  if (head === undefined)
    throw new GpufareError('this is no output of sacct with its head line', 2, 'ask sacct with -P and without -n')
  const records: RunRecord[] = []
  let skipped = 0
  for (const cells of rowsOf(text, head)) {
    const row = new SacctRow(head.columns, cells)
    if (row.isStep || row.isWaiting) continue
    const run = runOf(row)
    if (run === undefined) skipped++
    else records.push({ run, cluster: row.cell('Cluster'), isComponent: row.id.includes('+') })
  }
  return { runs: joinRecords(records), skipped }
}

interface Head {
  readonly columns: readonly string[]
  readonly delimiter: string
  /** With --parsable a delimiter stands behind the last cell too. */
  readonly width: number
}

function headOf(text: string): Head | undefined {
  const [line = ''] = text.split(/\r?\n/, 1)
  const delimiter = /^\w+(\W+)/.exec(line)?.[1]
  if (delimiter === undefined) return undefined
  const columns = line.split(delimiter)
  const width = columns.length
  const named = columns.filter(column => column !== '')
  const has = (...names: readonly string[]) => names.some(name => named.includes(name))
  if (!has('JobID', 'JobIDRaw') || !has('State') || !has('ElapsedRaw', 'Elapsed')) return undefined
  return { columns: named, delimiter, width }
}

/** Cells of each row. A row with a line break in a name goes on in the next line; a delimiter in one makes too many cells. */
function* rowsOf(text: string, { columns, delimiter, width }: Head): Generator<readonly string[]> {
  const endsFree = freeText.includes(columns.at(-1) ?? '')
  let begun: string | undefined
  let first = true
  for (const line of text.split(/\r?\n/)) {
    if (first) {
      first = false
      continue
    }
    const whole = begun === undefined ? line : `${begun}\n${line}`
    // The rest of a name with a line break that stands last.
    const isRest = begun === undefined && endsFree && !line.includes(delimiter)
    if (whole.trim() === '' || isRest) continue
    const cells = whole.split(delimiter)
    if (cells.length < width && !isOver(cells, columns)) begun = whole
    else {
      begun = undefined
      yield cells.length > width ? mend(cells, columns, delimiter, width) : cells
    }
  }
}

/** A row that is broken for good would swallow all that follow. */
function isOver(cells: readonly string[], columns: readonly string[]): boolean {
  return cells.join('').length > 65_536 || columns.length === 1
}

/** Puts the surplus cells into the column of free text where the row makes sense again. */
function mend(
  cells: readonly string[],
  columns: readonly string[],
  delimiter: string,
  width: number,
): readonly string[] {
  const surplus = cells.length - width
  const mended = freeText
    .map(name => columns.indexOf(name))
    .filter(index => index >= 0)
    .map(index => [
      ...cells.slice(0, index),
      cells.slice(index, index + surplus + 1).join(delimiter),
      ...cells.slice(index + surplus + 1),
    ])
  return mended.find(each => makesSense(new SacctRow(columns, each))) ?? cells
}

function makesSense(row: SacctRow): boolean {
  return (
    /^[A-Z_]+( by \d+)?\+?$/.test(row.cell('State')) &&
    row.elapsedSeconds !== undefined &&
    (row.cell('Submit') === '' || timeSeconds(row.cell('Submit')) !== undefined) &&
    /^(|\w[^=]*=.*)$/.test(row.cell('AllocTRES')) &&
    /^\d*$/.test(row.cell('NNodes'))
  )
}

class SacctRow {
  private readonly columns: readonly string[]
  private readonly cells: readonly string[]

  constructor(columns: readonly string[], cells: readonly string[]) {
    this.columns = columns
    this.cells = cells
  }

  cell(...columns: readonly string[]): string {
    for (const column of columns) {
      const text = this.cells[this.columns.indexOf(column)]
      if (text !== undefined && text !== '') return text
    }
    return ''
  }

  get id(): string {
    return this.cell('JobID', 'JobIDRaw').trim()
  }

  get isStep(): boolean {
    return this.id.includes('.')
  }

  /** Waiting, running, or cancelled before it began. */
  get isWaiting(): boolean {
    const [word] = this.cell('State').split(' ')
    const neverBegan = word === 'CANCELLED' && this.elapsedSeconds === 0
    return neverBegan || /^(PENDING|RUNNING|SUSPENDED|RESIZING|COMPLETING|CONFIGURING|REVOKED)/.test(word ?? '')
  }

  get elapsedSeconds(): number | undefined {
    const raw = this.cell('ElapsedRaw')
    return /^\d+$/.test(raw) ? Number(raw) : clockSeconds(this.cell('Elapsed'))
  }
}

function runOf(row: SacctRow): EarlierRun | undefined {
  const state = stateOf(row.cell('State'))
  const elapsedSeconds = row.elapsedSeconds
  const start = timeSeconds(row.cell('Start'))
  const end = timeSeconds(row.cell('End')) ?? (start === undefined ? undefined : start + (elapsedSeconds ?? 0))
  if (row.id === '' || state === undefined || elapsedSeconds === undefined || end === undefined) return undefined
  const startSeconds = start ?? end - elapsedSeconds
  const allocated = row.cell('AllocTRES')
  const tres = allocated.includes('=') ? allocated : row.cell('ReqTRES')
  const limitSeconds = limitOf(row.cell('TimelimitRaw', 'Timelimit'))
  const nodes = positive(row.cell('NNodes', 'AllocNodes')) ?? countOfTres(tres, 'node')
  const cpus = positive(row.cell('NCPUS', 'AllocCPUS', 'ReqCPUS')) ?? countOfTres(tres, 'cpu')
  const submitLineDigest = digestOf(row.cell('SubmitLine'))
  const workDirDigest = digestOf(row.cell('WorkDir'))
  return {
    id: row.id.replace(/\+\d+$/, ''),
    name: row.cell('JobName'),
    user: row.cell('User').toLowerCase(),
    account: row.cell('Account').toLowerCase(),
    partition: row.cell('Partition'),
    qos: row.cell('QOS'),
    state,
    submitSeconds: timeSeconds(row.cell('Submit')) ?? startSeconds,
    startSeconds,
    endSeconds: end,
    elapsedSeconds,
    ...(limitSeconds !== undefined && { limitSeconds }),
    ...(nodes !== undefined && { nodes }),
    ...(cpus !== undefined && { cpus }),
    ...gpusOfTres(tres),
    ...(submitLineDigest !== undefined && { submitLineDigest }),
    ...(workDirDigest !== undefined && { workDirDigest }),
  }
}
