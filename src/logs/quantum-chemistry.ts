import { findStamp } from './clock.ts'
import { derived } from './figures.ts'
import { type LineFormat, lineReader } from './line-format.ts'
import type { LogReader } from './log-reader.ts'

const quantumEspresso: LineFormat = {
  framework: 'quantum-espresso',
  unit: 'other',
  sign: /Program PWSCF/,
  report: /^\s*iteration #\s*(?<step>\d+)/,
  additions: [/^\s*total cpu time spent up to now is\s+(?<elapsed>[\d.]+) secs/],
  finished: /JOB DONE\./,
  figures: [{ figure: 'worldSize', pattern: /running on\s+(\d+) processor/ }],
  perEpoch: true,
}

const vasp: LineFormat = {
  framework: 'vasp',
  unit: 'other',
  report: /-+ Iteration\s+(?<epoch>\d+)\(\s*(?<step>\d+)\)\s+-+/,
  additions: [/^\s*LOOP:\s+cpu time\s+[\d.]+: real time\s+(?<seconds>[\d.]+)/],
  perEpoch: true,
  firstEpoch: 1,
  finished: /General timing and accounting informations/,
  figures: [
    { figure: 'elapsedSeconds', pattern: /Elapsed time \(sec\):\s+([\d.]+)/ },
    { figure: 'worldSize', pattern: /running on\s+(\d+) (?:total cores|mpi-ranks)/ },
  ],
}

/** Steps of molecular dynamics, or of an optimization of the geometry; until version 7 in capitals. */
const cp2k: LineFormat = {
  framework: 'cp2k',
  unit: 'other',
  sign: /\bCP2K\|/,
  report: /^\s*(?:MD\| Step number|STEP NUMBER\s+=|OPT\| Step number|-+\s+Informations at step =)\s+(?<step>\d+)/,
  additions: [
    /^\s*(?:MD\| CPU time per MD step \[s\]|CPU TIME \[s\]\s+=|OPT\| Used time \[s\]|Used time\s+=)\s+(?<seconds>[\d.]+)/,
  ],
  figures: [
    { figure: 'stepsTotal', pattern: /^\s*MD(?:_PAR)?\| Number of time steps\s+(\d+)/i },
    { figure: 'worldSize', pattern: /Total number of message passing processes\s+(\d+)/ },
  ],
  finished: /PROGRAM ENDED AT/,
  refine: (reading, records) => {
    const [started, ended] = [/PROGRAM STARTED AT/, /PROGRAM ENDED AT/].map(
      sign => findStamp(records.findLast(({ text }) => sign.test(text))?.text ?? '')?.seconds,
    )
    const elapsed = started === undefined || ended === undefined ? undefined : ended - started
    return {
      ...reading,
      figures: { ...reading.figures, elapsedSeconds: derived('start to end of the program', elapsed) },
    }
  },
}

/** One energy alone: the steps are those of the electrons. */
const cp2kEnergy: LineFormat = {
  ...cp2k,
  report:
    /^\s*(?<step>\d+) (?:OT |P_Mix|\w+_?Mix|Broy|Pulay|DIIS|Diag)\S*(?: \S+)?\s+[\d.E+-]+\s+(?<seconds>[\d.]+)\s+[\d.E+-]+\s+-?\d+\.\d+/,
  additions: [],
  perEpoch: true,
}

/** Electronic structure: a step is one of the atoms, or of the electrons. */
export const quantumChemistry: readonly LogReader[] = [quantumEspresso, vasp, cp2k, cp2kEnergy].map(lineReader)
