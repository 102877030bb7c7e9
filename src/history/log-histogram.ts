/**
 * Shares over the logarithm of seconds, in bins of 3 %: finer than any runtime repeats. From a minute (`shortestSeconds`)
 * to 50 days, which no scheduler lets a job run.
 */
export type LogHistogram = Float64Array

/** Runs below a minute are crashes and trials: they cost nothing, and mislead about the run that follows them. */
export const shortestSeconds = 60

const binWidth = 0.03
const binCount = 374
const lowest = Math.log(shortestSeconds)

/** A histogram of nothing. */
export function emptyHistogram(): LogHistogram {
  return new Float64Array(binCount)
}

/** Every runtime is as likely as any other. */
export function evenHistogram(): LogHistogram {
  return emptyHistogram().fill(1 / binCount)
}

/** The bin of a logarithm of seconds. */
export function binOf(logSeconds: number): number {
  return Math.max(0, Math.min(binCount - 1, Math.round((logSeconds - lowest) / binWidth)))
}

/** Nothing runs beyond its time limit: what lies there ends with the limit. */
export function cutAbove(histogram: LogHistogram, logLimit: number): void {
  const last = binOf(logLimit)
  let beyond = 0
  for (let bin = last + 1; bin < binCount; bin++) beyond += histogram[bin] ?? 0
  histogram.fill(0, last + 1)
  histogram[last] = (histogram[last] ?? 0) + beyond
}

/**
 * Spread by a Laplace kernel of this width (in ln seconds), whose heavy tails leave a surprise possible; in linear time, as a
 * recursive filter forwards and backwards.
 */
export function spread(histogram: LogHistogram, width: number): LogHistogram {
  const kept = Math.exp(-binWidth / width)
  const out = emptyHistogram()
  let carried = 0
  let total = 0
  for (let bin = 0; bin < binCount; bin++) {
    carried = carried * kept + (histogram[bin] ?? 0)
    out[bin] = carried
  }
  carried = 0
  for (let bin = binCount - 1; bin >= 0; bin--) {
    const sum = (out[bin] ?? 0) + carried * kept
    carried = carried * kept + (histogram[bin] ?? 0)
    out[bin] = sum
    total += sum
  }
  for (let bin = 0; bin < binCount; bin++) out[bin] = (out[bin] ?? 0) / total
  return out
}

/** Sums up to each bin, so that quantiles and windows are read off. */
export class Cumulative {
  private readonly sums: Float64Array

  constructor(histogram: LogHistogram) {
    this.sums = new Float64Array(binCount + 1)
    for (let bin = 0; bin < binCount; bin++) this.sums[bin + 1] = this.below(bin) + (histogram[bin] ?? 0)
  }

  private below(bin: number): number {
    return this.sums[bin] ?? 0
  }

  private get total(): number {
    return this.below(binCount)
  }

  /** Logarithm of the seconds that a share lies below. */
  quantile(share: number): number {
    const wanted = share * this.total
    let low = 0
    let high = binCount
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (this.below(middle) <= wanted) low = middle
      else high = middle
    }
    const inBin = this.below(low + 1) - this.below(low)
    return edgeOf(low) + (inBin > 0 ? ((wanted - this.below(low)) / inBin) * binWidth : 0)
  }

  /** The median of what lies between two logarithms of seconds. */
  medianWithin(from: number, until: number): number {
    return this.quantile((this.shareBelow(from) + this.shareBelow(until)) / 2)
  }

  private shareBelow(logSeconds: number): number {
    const position = Math.min(binCount, Math.max(0, (logSeconds - edgeOf(0)) / binWidth))
    const bin = Math.floor(position)
    return (this.below(bin) + (position - bin) * (this.below(bin + 1) - this.below(bin))) / this.total
  }

  /** The window of this width (ln seconds) that holds most, and the share it holds. */
  densestWindow(width: number): { readonly from: number; readonly until: number; readonly share: number } {
    const bins = Math.floor(width / binWidth) - 1
    let best = 0
    let most = -1
    for (let bin = 0; bin + bins <= binCount; bin++) {
      const held = this.below(bin + bins) - this.below(bin)
      if (held > most) {
        most = held
        best = bin
      }
    }
    return { from: edgeOf(best), until: edgeOf(best + bins), share: most / this.total }
  }

  /**
   * The single figure: the median, drawn to where runs crowd. Between two clusters a median is a runtime that no run had; so
   * each bin is worth the share within a factor of two, half the share within 20 % again, less `pull` for each unit of ln that it is
   * off the median.
   */
  typical(pull: number): number {
    const median = this.quantile(0.5)
    const centre = binOf(median)
    const wide = Math.round(Math.LN2 / binWidth)
    const near = Math.round(0.2 / binWidth)
    let best = centre
    let most = -Infinity
    for (let bin = 0; bin < binCount; bin++) {
      const worth =
        this.around(bin, wide) + this.around(bin, near) / 2 - pull * Math.abs(bin - centre) * binWidth * this.total
      if (worth > most) {
        most = worth
        best = bin
      }
    }
    return best === centre ? median : lowest + best * binWidth
  }

  private around(bin: number, bins: number): number {
    return this.below(Math.min(binCount, bin + bins + 1)) - this.below(Math.max(0, bin - bins))
  }
}

function edgeOf(bin: number): number {
  return lowest + (bin - 0.5) * binWidth
}
