import type { EarlierRun } from '../history/earlier-run.ts'

/** One record of Slurm's accounting, which may be a part of a run. */
export interface RunRecord {
  readonly run: EarlierRun
  readonly cluster: string
  /** One component of a heterogeneous job. */
  readonly isComponent: boolean
}

/** Runs of records: the last record of one submission counts, and components of a heterogeneous job are one run. */
export function joinRecords(records: readonly RunRecord[]): readonly EarlierRun[] {
  const runs = new Map<string, EarlierRun>()
  for (const { run, cluster, isComponent } of records) {
    const key = `${cluster} ${run.id} ${run.submitSeconds}`
    const other = runs.get(key)
    runs.set(key, isComponent && other !== undefined ? together(other, run) : run)
  }
  return [...runs.values()]
}

function together(a: EarlierRun, b: EarlierRun): EarlierRun {
  return {
    ...a,
    gpus: a.gpus + b.gpus,
    ...(a.nodes !== undefined && b.nodes !== undefined && { nodes: a.nodes + b.nodes }),
    ...(a.cpus !== undefined && b.cpus !== undefined && { cpus: a.cpus + b.cpus }),
    endSeconds: Math.max(a.endSeconds, b.endSeconds),
    elapsedSeconds: Math.max(a.elapsedSeconds, b.elapsedSeconds),
  }
}
