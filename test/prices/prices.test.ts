import { describe, expect, test } from 'vitest'
import { type Config, emptyConfig, type Pool } from '../../src/config.ts'
import { openTable } from '../../src/csv.ts'
import { findGpus } from '../../src/gpu.ts'
import type { Machine } from '../../src/machine.ts'
import { listPrices, type PriceList } from '../../src/prices/index.ts'
import { isSpot } from '../../src/prices/price-source.ts'
import { readTables } from '../../src/pricing-data.ts'
import { sourced } from '../../src/sourced.ts'

const { gpus } = readTables('pricing-data')

/** A small price table of its own, so that no update of the bundled one changes what is expected here. */
const prices =
  openTable(`provider,machine,region,gpu,gpu_count,cpu_count,memory_gib,on_demand_usd_h,spot_usd_h,reserved_1y_usd_h,reserved_3y_usd_h,as_of,source
aws,p4d.24xlarge,us-west-2,a100-40gb,8,96,1152,24,10,14,,2026-01-21,"list, west"
aws,p4d.24xlarge,us-east-1,a100-40gb,8,96,1152,20,,12,,2026-07-20,list east
aws,p4d.24xlarge,eu-west-1,a100-40gb,8,96,1152,25,26,15,,2026-07-20,list europe
aws,g4dn.metal,us-east-1,t4,8,96,384,7.824,2,,,2026-07-20,list east
aws,g4dn.xlarge,us-east-1,t4,1,4,16,0.526,0.2,,,2026-07-20,list east
aws,g4dn.12xlarge,eu-west-2,t4,4,48,192,4,1,,,2026-07-20,list (2026-07-20); spot: other list (2026-05-20) lowest zone
aws,g4dn.12xlarge,eu-west-3,t4,4,48,192,4,1,,,2026-07-20,list (2026-07-20); spot: other list
aws,g4dn.12xlarge,eu-south-1,t4,4,48,192,4,1,,,2026-07-20,list (2026-07-20); spot: other list @20acb (2025) lowest zone
gcp,a2-highgpu-8g,us-central1,a100-40gb,8,96,680,29,15,,,2026-08-03,google
oci,BM.GPU4.8,all,a100-40gb,8,128,2048,24.4,,,,2026,oracle
azure,Standard_NV6ads_A10_v5,eastus,a10,0.1667,6,55,0.454,,,,2026-06-18,azure
aws,m5.large,us-east-1,,0,2,8,0.096,,,,2026-07-20,list east
lambda,unpriced,all,a100-40gb,8,96,1152,,,,,2026-05-07,lambda
`)
const networks =
  openTable(`provider,machine,gpu,gpu_count,network_gbit_s,network_kind,rdma,link_kind,link_gb_s,clusters,as_of,source
aws,p4d.24xlarge,a100-40gb,8,400,EFA,yes,NVSwitch,600,yes,2026-11,list
aws,g4dn.metal,t4,8,100,EFA,part,PCIe,32,no,2026-11,list
`)

const pricesFor = (config: Partial<Config> = {}): PriceList =>
  listPrices({ gpus, prices, networks }, { ...emptyConfig, ...config })

function gpuNamed(name: string) {
  const [gpu] = findGpus(name, gpus)
  if (gpu === undefined) throw new Error(`no ${name} in the table`)
  return gpu
}

function machinesWith(list: PriceList, gpuName: string): readonly Machine[] {
  const gpu = gpuNamed(gpuName)
  return list.providersWith(gpu).flatMap(provider => list.machinesWith(gpu, provider))
}

function machineNamed(list: PriceList, name: string): Machine {
  const [machine] = list.machinesNamed(name)
  if (machine === undefined) throw new Error(`no ${name} on offer`)
  return machine
}

const place = { file: 'gpufare.yaml', line: 7, column: 5 }
const fromConfig = <T>(value: T) => sourced(value, { kind: 'config', place })

function clusterWith(pool: Partial<Pool>): Pick<Config, 'clusters'> {
  const whole = { name: 'gpu', gpu: 'a100-40gb', gpusPerNode: 4, spot: false, resourceName: 'gpu', ...pool }
  return { clusters: [{ name: 'ada', scheduler: 'slurm', pools: [whole] }] }
}

function priceOfPool(config: Partial<Config>, tier: 'on-demand' | 'spot' = 'on-demand') {
  const list = pricesFor(config)
  const [cluster] = config.clusters ?? []
  const [pool] = cluster?.pools ?? []
  if (cluster === undefined || pool === undefined) throw new Error('no pool to price')
  const [node] = list.machinesOf(cluster, pool)
  return node && list.priceOf(node, tier)
}

describe('machines on offer', () => {
  test('come in the order of the usual clouds, each once', () => {
    const names = machinesWith(pricesFor(), 'a100-40gb').map(machine => machine.name)
    expect(names).toEqual(['p4d.24xlarge', 'a2-highgpu-8g', 'BM.GPU4.8'])
  })

  test('are those of the configured providers, in their order', () => {
    const list = pricesFor({ providers: ['oci', 'aws'] })
    expect(list.providersWith(gpuNamed('a100-40gb'))).toEqual(['oci', 'aws'])
  })

  test('are those of the configured regions, and those that are priced the same everywhere', () => {
    const list = pricesFor({ regions: ['eu-west-1'] })
    expect(machinesWith(list, 'a100-40gb').map(machine => machine.name)).toEqual(['p4d.24xlarge', 'BM.GPU4.8'])
    expect(machinesWith(list, 't4')).toEqual([])
  })

  test('know their processors, memory, links and network', () => {
    const { gpu, ...rest } = machineNamed(pricesFor(), 'p4d.24xlarge')
    expect(gpu.name).toBe('a100-40gb')
    expect(rest).toEqual({
      provider: 'aws',
      name: 'p4d.24xlarge',
      gpuCount: 8,
      cpuCount: 96,
      memoryBytes: 1152 * 2 ** 30,
      linkBytesPerSecond: 600e9,
      networkBytesPerSecond: 50e9,
      rdma: true,
      clusters: true,
    })
  })

  test('say nothing of a network that no table knows', () => {
    const machine = machineNamed(pricesFor(), 'g4dn.xlarge')
    expect(machine).not.toHaveProperty('networkBytesPerSecond')
    expect(machine).not.toHaveProperty('clusters')
  })

  test('are whole: parts of a GPU and machines without one are not offered', () => {
    expect(machinesWith(pricesFor(), 'a10')).toEqual([])
    expect(pricesFor().machinesNamed('m5.large')).toEqual([])
  })
})

describe('a price', () => {
  test('is of the most usual region, with its day and source', () => {
    const list = pricesFor()
    const machine = machineNamed(list, 'p4d.24xlarge')
    expect(list.priceOf(machine, 'on-demand')).toMatchObject({
      region: 'us-east-1',
      tier: 'on-demand',
      usdPerMachineHour: 20,
      asOf: '2026-07-20',
      source: 'list east',
    })
  })

  test('is of the first configured region that has it', () => {
    const list = pricesFor({ regions: ['eu-central-1', 'eu-west-1', 'us-east-1'] })
    expect(list.priceOf(machineNamed(list, 'p4d.24xlarge'), 'on-demand')?.region).toBe('eu-west-1')
  })

  test('at spot is a price of its own, in the next region where the first has none', () => {
    const list = pricesFor()
    const spot = list.priceOf(machineNamed(list, 'p4d.24xlarge'), 'spot')
    expect(spot).toMatchObject({ region: 'us-west-2', tier: 'spot', usdPerMachineHour: 10, source: 'list, west' })
  })

  test('at spot above on-demand is not believed', () => {
    const list = pricesFor({ regions: ['eu-west-1'] })
    expect(list.priceOf(machineNamed(list, 'p4d.24xlarge'), 'spot')).toBeUndefined()
  })

  test('that is not known is undefined, never 0', () => {
    const list = pricesFor()
    expect(list.priceOf(machineNamed(list, 'p4d.24xlarge'), 'reserved-3y')).toBeUndefined()
    expect(list.machinesNamed('unpriced')).toEqual([])
    const unknown: Machine = { provider: 'aws', name: 'x', gpu: { name: 'zx9000', vendor: 'unknown' }, gpuCount: 8 }
    expect(list.priceOf(unknown, 'on-demand')).toBeUndefined()
  })

  test('has the day and the list of its own tier, where a row has several', () => {
    const list = pricesFor({ regions: ['eu-west-2'] })
    const machine = machineNamed(list, 'g4dn.12xlarge')
    expect(list.priceOf(machine, 'on-demand')).toMatchObject({ asOf: '2026-07-20', source: 'list (2026-07-20)' })
    expect(list.priceOf(machine, 'on-demand')).not.toHaveProperty('lowestZone')
    const spot = list.priceOf(machine, 'spot')
    expect(spot).toMatchObject({ asOf: '2026-05-20', source: 'other list (2026-05-20) lowest zone', lowestZone: true })
  })

  test('has no day where its own list says none, and not that of its neighbour', () => {
    const list = pricesFor({ regions: ['eu-west-3'] })
    expect(list.priceOf(machineNamed(list, 'g4dn.12xlarge'), 'spot')).toMatchObject({ asOf: '', source: 'other list' })
    const south = pricesFor({ regions: ['eu-south-1'] })
    expect(south.priceOf(machineNamed(south, 'g4dn.12xlarge'), 'spot')?.asOf).toBe('2025')
  })

  test('has the discount taken off and says so, but not at spot', () => {
    const list = pricesFor({ discount: fromConfig(0.1), regions: ['us-west-2'] })
    const machine = machineNamed(list, 'p4d.24xlarge')
    const firm = list.priceOf(machine, 'on-demand')
    expect(firm?.usdPerMachineHour).toBeCloseTo(21.6)
    expect(firm?.source).toBe('list, west; less 10 % (gpufare.yaml:7:5)')
    expect(firm?.discount).toEqual({ share: 0.1, listUsdPerMachineHour: 24, place })
    expect(list.priceOf(machine, 'spot')?.usdPerMachineHour).toBe(10)
  })
})

describe('a pool of an own cluster', () => {
  test('costs its own rate for each GPU of a node, and has no spot price', () => {
    const config = clusterWith({ usdPerGpuHour: fromConfig(1.5) })
    expect(priceOfPool(config)).toMatchObject({
      tier: 'own',
      region: '',
      usdPerMachineHour: 6,
      source: 'gpufare.yaml:7:5',
    })
    expect(priceOfPool(config, 'spot')).toBeUndefined()
  })

  test('with an own rate for spot machines is spot all the same, and has no discount', () => {
    const own = { ...clusterWith({ usdPerGpuHour: fromConfig(1.5), spot: true }), discount: fromConfig(0.1) }
    expect(priceOfPool(own)).toMatchObject({ tier: 'own-spot', usdPerMachineHour: 6, source: 'gpufare.yaml:7:5' })
    expect(isSpot('own-spot') && isSpot('spot')).toBe(true)
    expect(isSpot('own') || isSpot('on-demand')).toBe(false)
  })

  test('of a GPU type that nobody knows has a price all the same', () => {
    const price = priceOfPool(clusterWith({ gpu: 'zx9000', usdPerGpuHour: fromConfig(2) }))
    expect(price?.usdPerMachineHour).toBe(8)
    expect(price?.machine.gpu).toEqual({ name: 'zx9000', vendor: 'unknown' })
  })

  test('costs what the rented machine behind it costs in its region', () => {
    const machine = { provider: 'aws', instanceType: 'p4d.24xlarge', region: 'us-west-2' }
    const price = priceOfPool(clusterWith({ gpu: 'a100', gpusPerNode: 8, machine }))
    expect(price).toMatchObject({ tier: 'on-demand', region: 'us-west-2', usdPerMachineHour: 24 })
    expect(price?.machine).toMatchObject({ provider: 'ada', name: 'gpu', linkBytesPerSecond: 600e9 })
    expect(price?.machine.gpu.name).toBe('a100-40gb')
  })

  test('on spot machines costs their spot price', () => {
    const machine = { provider: 'aws', instanceType: 'p4d.24xlarge', region: 'us-west-2' }
    const price = priceOfPool(clusterWith({ gpusPerNode: 8, machine, spot: true }))
    expect(price).toMatchObject({ tier: 'spot', usdPerMachineHour: 10 })
  })

  test('behind which stands a machine that no table knows has no price', () => {
    const machine = { provider: 'aws', instanceType: 'p9.huge', region: 'us-west-2' }
    expect(priceOfPool(clusterWith({ machine }))).toBeUndefined()
  })

  test('without a rate costs the list price of the same GPU, and is labelled so', () => {
    const price = priceOfPool(clusterWith({}))
    // 4 of the 8 GPUs of a p4d.24xlarge at $20
    expect(price).toMatchObject({ tier: 'on-demand', region: 'us-east-1', usdPerMachineHour: 10 })
    expect(price?.listedFor).toEqual({ provider: 'aws', machine: 'p4d.24xlarge', assumed: true })
    expect(price?.source).toBe('list east')
  })

  test('without a rate takes the list price of a machine with as many GPUs, where there is one', () => {
    expect(priceOfPool(clusterWith({ gpu: 't4', gpusPerNode: 8 }))?.usdPerMachineHour).toBeCloseTo(7.824)
    expect(priceOfPool(clusterWith({ gpu: 't4', gpusPerNode: 2 }))?.usdPerMachineHour).toBeCloseTo(1.052)
  })

  test('stands once for each GPU type that its name may mean', () => {
    const config = clusterWith({ gpu: 'v100' })
    const [cluster] = config.clusters
    const [pool] = cluster?.pools ?? []
    if (cluster === undefined || pool === undefined) throw new Error('no pool')
    const nodes = pricesFor(config).machinesOf(cluster, pool)
    expect(nodes.map(node => node.gpu.name)).toEqual(['v100-16gb', 'v100-32gb'])
  })
})
