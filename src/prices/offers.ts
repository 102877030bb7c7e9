import type { Config } from '../config.ts'
import { describePlace } from '../errors.ts'
import type { Machine } from '../machine.ts'
import { formatPercent } from '../units.ts'
import { isSpot, type Listing, type Price, type Tier } from './price-source.ts'

/** A machine that can be had. */
export interface Offer {
  readonly machine: Machine
  /** Its price in the most preferred region that has one at this tier. */
  priceAt(tier: Tier): Price | undefined
}

/** What one provider lists. */
export interface ProviderListings {
  readonly provider: string
  readonly listings: readonly Listing[]
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
 * Who has these machines where the configuration looks, in order of preference: the providers and regions that it names are the
 * only ones that count. Of two listings of a machine in the same region the earlier is taken.
 */
export function listingsByProvider(listings: readonly Listing[], config: Config): readonly ProviderListings[] {
  const providers = config.providers.length > 0 ? config.providers : usualProviders
  const counting = listings.filter(listing => counts(listing, config))
  return [...groupBy(counting, listing => listing.provider)]
    .map(([provider, own]) => ({ provider, listings: own }))
    .sort((a, b) => rankIn(providers, a.provider) - rankIn(providers, b.provider))
}

/** The machines of one provider that have an on-demand price. */
export function offersIn(listings: readonly Listing[], { regions }: Config): readonly Offer[] {
  const order = regions.length > 0 ? regions : usualRegions
  return [...groupBy(listings, listing => listing.machineName).values()].flatMap(own => {
    const ranked = own
      .map(listing => ({ listing, rank: rankIn(order, listing.region) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ listing }) => listing)
    const priceAt = (tier: Tier) => firstPrice(ranked, tier)
    const machine = priceAt('on-demand')?.machine
    return machine === undefined ? [] : [{ machine, priceAt }]
  })
}

/** Reads no more listings than it must. */
function firstPrice(listings: readonly Listing[], tier: Tier): Price | undefined {
  for (const listing of listings) {
    const price = listing.prices().find(each => each.tier === tier)
    if (price !== undefined) return price
  }
  return undefined
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** The price less what the configuration takes off list prices; nothing is taken off a spot price, which the market makes. */
export function discounted(price: Price, { discount }: Config): Price {
  if (discount === undefined || isSpot(price.tier)) return price
  const place = discount.origin.kind === 'config' ? discount.origin.place : undefined
  const listUsdPerMachineHour = price.usdPerMachineHour
  return {
    ...price,
    usdPerMachineHour: listUsdPerMachineHour * (1 - discount.value),
    discount: { share: discount.value, listUsdPerMachineHour, ...(place && { place }) },
    source: `${price.source}; less ${formatPercent(discount.value)}${place ? ` (${describePlace(place)})` : ''}`,
  }
}

/** US dollars an hour for one GPU of a machine. */
export function usdPerGpuHour(price: Price): number {
  return price.usdPerMachineHour / price.machine.gpuCount
}

function counts({ provider, region }: Listing, { providers, regions }: Config): boolean {
  const isProvider = providers.length === 0 || providers.includes(provider)
  return isProvider && (regions.length === 0 || regions.includes(region) || everywhere.has(region))
}

/** What is not in the list comes last, in the order it had. */
function rankIn(order: readonly string[], key: string): number {
  const rank = order.indexOf(key)
  return rank < 0 ? order.length : rank
}
