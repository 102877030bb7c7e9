const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/**
 * A Kubernetes quantity in its base unit (cores, bytes, devices): `1500m`, `48Gi`, `1e3`, `8.0`; undefined where the API
 * server would refuse it. Rules of k8s.io/apimachinery/pkg/api/resource: a suffix or an exponent, not both.
 */
export function readQuantity(value: string | number): number | undefined {
  if (typeof value === 'number') return value
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(value.trim())
  if (match === null) return undefined
  const [, digits = '', exponent, suffix = ''] = match
  if (exponent !== undefined) return Number(digits + exponent)
  const factor = SUFFIXES[suffix]
  return factor === undefined ? undefined : roundToNano(Number(digits) * factor)
}

/** Kubernetes keeps quantities to a nano; a double's dust such as 0.30000000000000004 is none of theirs. */
function roundToNano(value: number): number {
  return Number(value.toPrecision(15))
}
