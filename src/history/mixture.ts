import { emptyHistogram, type LogHistogram } from './log-histogram.ts'
import { RecentMap } from './recent-map.ts'

/** What is said of a request: circumstances under which one way of looking may be better than another. */
export interface Circumstances {
  /** True of requests of every user, such as how alike the most alike run is. */
  readonly shared: readonly string[]
  /** True of one user's. */
  readonly own: readonly string[]
}

/** How far one run moves the weights; a user's own circumstances are learned from few runs. */
const sharedRate = 0.1
const ownRate = 0.3

/** A view that said a runtime was impossible can still come back. */
const leastDensity = 1e-5

/** Circumstances that are remembered: 18 numbers each. The oldest are forgotten. */
const mostCircumstances = 20_000

/**
 * Weights of several views, learned from how well each foresaw the runs that have ended: a softmax over the sum of one
 * weight vector per circumstance, moved along the gradient of the mixture's log-likelihood. This is the context mixing of
 * Mahoney (PAQ, 2005) in Mattern's linear form (2012): the mixture as a whole gets better, where Bayesian
 * averaging would pick the one best view.
 */
export class Mixture {
  private readonly viewCount: number
  private readonly learned = new RecentMap<Float64Array>(mostCircumstances)

  constructor(viewCount: number) {
    this.viewCount = viewCount
  }

  /** All views together. */
  blend(views: readonly LogHistogram[], circumstances: Circumstances): LogHistogram {
    const blended = emptyHistogram()
    const weights = this.weightsFor(circumstances)
    views.forEach((view, index) => {
      const weight = weights[index] ?? 0
      for (let bin = 0; bin < blended.length; bin++) blended[bin] = (blended[bin] ?? 0) + weight * (view[bin] ?? 0)
    })
    return blended
  }

  /** A run ended; `densities` is what each view had given to its runtime. */
  learn(densities: readonly number[], circumstances: Circumstances): void {
    const weights = this.weightsFor(circumstances)
    const shares = densities.map((density, index) => (density + leastDensity) * (weights[index] ?? 0))
    const total = shares.reduce((sum, share) => sum + share, 0)
    const gradient = shares.map((share, index) => share / total - (weights[index] ?? 0))
    for (const name of circumstances.shared) this.move(name, gradient, sharedRate)
    for (const name of circumstances.own) this.move(name, gradient, ownRate)
  }

  private move(name: string, gradient: readonly number[], rate: number): void {
    const vector = this.learned.get(name) ?? new Float64Array(this.viewCount)
    gradient.forEach((slope, index) => {
      vector[index] = (vector[index] ?? 0) + rate * slope
    })
    this.learned.set(name, vector)
  }

  private weightsFor({ shared, own }: Circumstances): Float64Array {
    const sums = new Float64Array(this.viewCount)
    for (const name of [...shared, ...own]) {
      this.learned.get(name)?.forEach((value, index) => {
        sums[index] = (sums[index] ?? 0) + value
      })
    }
    const highest = sums.reduce((a, b) => Math.max(a, b))
    const weights = sums.map(sum => Math.exp(sum - highest))
    const total = weights.reduce((a, b) => a + b)
    return weights.map(weight => weight / total)
  }
}
