import type { Config } from '../config.ts'
import { describePlace } from '../errors.ts'
import type { Machine } from '../machine.ts'
import { formatPercent } from '../units.ts'
import type { Price, Tier } from './price-source.ts'

/** A machine that can be had, with its price at each tier in the most preferred region that has one. */
export interface Offer {
  readonly machine: Machine
  readonly prices: ReadonlyMap<Tier, Price>
}

/** Clouds where most jobs run first, then those with fixed machine types, marketplaces of other people's machines last. */
const usualProviders = [
  ...['aws', 'gcp', 'azure', 'oci', 'lambda', 'coreweave', 'nebius', 'crusoe', 'verda', 'vultr', 'digitalocean'],
  ...['hyperstack', 'runpod', 'modal', 'jarvislabs', 'novita', 'akash', 'vast'],
]

/** Each large cloud's own first region; elsewhere the first that the table has. */
const usualRegions = ['us-east-1', 'us-central1', 'eastus', 'us-east-2', 'us-west-2', 'us-east4', 'eastus2', 'westus2']

/** What price lists write where a price holds in every region. */
const everywhere = new Set(['all', 'global'])

/**
 * The machines of these prices that have an on-demand price where the configuration looks, providers in order of preference. The
 * providers and regions that it names are the only ones that count. Of two prices for the same thing the earlier is taken.
 */
export function offersIn(prices: readonly Price[], config: Config): readonly Offer[] {
  const regions = config.regions.length > 0 ? config.regions : usualRegions
  const providers = config.providers.length > 0 ? config.providers : usualProviders
  const offers = new Map<string, { machine: Machine; prices: Map<Tier, Price> }>()
  for (const price of prices) {
    if (!counts(price, config)) continue
    const { machine, region, tier } = price
    const key = `${machine.provider} ${machine.name}`
    const offer = offers.get(key) ?? { machine, prices: new Map<Tier, Price>() }
    const known = offer.prices.get(tier)
    if (known === undefined || rankIn(regions, region) < rankIn(regions, known.region)) offer.prices.set(tier, price)
    offers.set(key, offer)
  }
  return [...offers.values()]
    .filter(offer => offer.prices.has('on-demand'))
    .sort((a, b) => rankIn(providers, a.machine.provider) - rankIn(providers, b.machine.provider))
}

/** The price less what the configuration takes off list prices; nothing is taken off a spot price, which the market makes. */
export function discounted(price: Price, { discount }: Config): Price {
  if (discount === undefined || price.tier === 'spot') return price
  const where = discount.origin.kind === 'config' ? ` (${describePlace(discount.origin.place)})` : ''
  return {
    ...price,
    usdPerMachineHour: price.usdPerMachineHour * (1 - discount.value),
    source: `${price.source}; less ${formatPercent(discount.value)}${where}`,
  }
}

export function usdPerGpuHour(price: Price): number {
  return price.usdPerMachineHour / price.machine.gpuCount
}

function counts({ machine, region }: Price, { providers, regions }: Config): boolean {
  const isProvider = providers.length === 0 || providers.includes(machine.provider)
  return isProvider && (regions.length === 0 || regions.includes(region) || everywhere.has(region))
}

/** What is not in the list comes last, in the order it had. */
function rankIn(order: readonly string[], key: string): number {
  const rank = order.indexOf(key)
  return rank < 0 ? order.length : rank
}
