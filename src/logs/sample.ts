/** Of more reports than this some are enough for a rate. */
const enoughReports = 10_000
/** Neighbours tell what lies between two reports; with accumulation every second, fourth or eighth is of another kind of step. */
const sampleLength = 64

/** Of very many reports short stretches from all over, and those beside a turn, where a counter begins anew. */
export function sampled<T>(reports: readonly T[], isTurn: (report: T, next: T) => boolean): readonly T[] {
  const every = Math.ceil(reports.length / enoughReports)
  if (every <= 1) return reports
  const turnsAt = (index: number): boolean => {
    const report = reports[index]
    const next = reports[index + 1]
    return report === undefined || next === undefined || isTurn(report, next)
  }
  return reports.filter(
    (_report, index) => Math.floor(index / sampleLength) % every === 0 || turnsAt(index) || turnsAt(index - 1),
  )
}
