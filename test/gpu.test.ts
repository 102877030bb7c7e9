import { describe, expect, test } from 'vitest'
import { commonGpuNames, findGpus, gpusWithSlices, migProfileIn, nearestGpuNames, sliceOf } from '../src/gpu.ts'
import { readTables } from '../src/pricing-data.ts'

const { gpus } = readTables('pricing-data')
const namesOf = (name: string) => findGpus(name, gpus).map(gpu => gpu.name)
const gpuNamed = (name: string) => {
  const [gpu] = findGpus(name, gpus)
  if (gpu === undefined) throw new Error(`no ${name} in the table`)
  return gpu
}

describe('a GPU name', () => {
  test.each([
    // Slurm GRES types and node features
    ['a100_80gb', 'a100-80gb'],
    ['A100-SXM4-80GB', 'a100-80gb'],
    ['a100_80g', 'a100-80gb'],
    ['nvidia_a100_80gb_pcie', 'a100-pcie-80gb'],
    ['nvidia_a100-sxm4-40gb', 'a100-40gb'],
    ['tesla_t4', 't4'],
    ['T4', 't4'],
    ['v100-32g', 'v100-32gb'],
    ['v100l', 'v100-32gb'],
    ['volta32gb', 'v100-32gb'],
    ['ampere80', 'a100-80gb'],
    ['rtx_a6000', 'a6000'],
    ['rtxa6000', 'a6000'],
    ['nvidia_rtx_a5000', 'a5000'],
    ['rtx2080ti', 'rtx2080ti'],
    ['2080ti', 'rtx2080ti'],
    ['geforce_rtx_3090', 'rtx3090'],
    ['gtx_1080_ti', 'gtx1080ti'],
    ['rtx_6000_ada', 'rtx6000-ada'],
    ['quadro_rtx_6000', 'rtx6000-turing'],
    ['h100', 'h100-80gb'],
    ['nvidia_h100_80gb_hbm3', 'h100-80gb'],
    ['h100_pcie', 'h100-pcie-80gb'],
    ['h100_nvl', 'h100-nvl-94gb'],
    ['h200', 'h200'],
    ['gh200_480gb', 'gh200'],
    ['mi250x', 'mi250x'],
    ['amd_instinct_mi300x', 'mi300x'],
    ['a100_3g.20gb', 'a100-40gb'],
    ['h100_pcie_2g.20gb', 'h100-pcie-80gb'],
    ['a100l.2g.20gb', 'a100-80gb'],
    ['nvidia_a100_80gb_pcie_1g.10gb+me', 'a100-pcie-80gb'],
    // product labels of NVIDIA's and AMD's device plugins
    ['NVIDIA-A100-SXM4-80GB', 'a100-80gb'],
    ['NVIDIA-A100-80GB-PCIe', 'a100-pcie-80gb'],
    ['Tesla-T4', 't4'],
    ['Tesla-T4-SHARED', 't4'],
    ['Tesla-V100-SXM2-16GB', 'v100-16gb'],
    ['NVIDIA-L4', 'l4'],
    ['NVIDIA-H100-80GB-HBM3', 'h100-80gb'],
    ['NVIDIA-A100-SXM4-40GB-MIG-1g.5gb', 'a100-40gb'],
    ['NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED', 'a100-80gb'],
    ['NVIDIA-GeForce-RTX-2080-Ti', 'rtx2080ti'],
    ['NVIDIA-RTX-6000-Ada-Generation', 'rtx6000-ada'],
    ['AMD_Instinct_MI300X_OAM', 'mi300x'],
    // GKE and Karpenter
    ['nvidia-tesla-t4', 't4'],
    ['nvidia-tesla-a100', 'a100-40gb'],
    ['nvidia-a100-80gb', 'a100-80gb'],
    ['nvidia-tesla-v100', 'v100-16gb'],
    ['nvidia-h100-mega-80gb', 'h100-80gb'],
    ['nvidia-h200-141gb', 'h200'],
    ['a10g', 'a10g'],
    ['tpu-v5-lite-podslice', 'tpu-v5e'],
  ])('%s is %s', (name, canonical) => {
    expect(namesOf(name)).toEqual([canonical])
  })

  test.each([
    ['a100', ['a100-40gb', 'a100-80gb']],
    ['nvidia_a100', ['a100-40gb', 'a100-80gb']],
    ['a100-pcie', ['a100-pcie-40gb', 'a100-pcie-80gb']],
    ['v100', ['v100-16gb', 'v100-32gb']],
    ['rtx6000', ['rtx6000-turing', 'rtx6000-ada']],
    ['a100_1g.10gb', ['a100-40gb', 'a100-80gb']],
    ['mig-3g.40gb', ['a100-80gb', 'h100-80gb']],
    ['3g.40gb', ['a100-80gb', 'h100-80gb']],
  ])('%s is ambiguous', (name, canonical) => {
    expect(namesOf(name)).toEqual(canonical)
  })

  test.each([
    'NVIDIA-H1000-160GB',
    'zx9000',
    'a1000',
    'a1',
    'h100-160gb',
    'a100-120gb',
    'a100-mig',
    'l400s',
    't40',
    'rtx',
    'tesla',
    'nvidia',
    'gpu',
    '',
    '-',
    'constructor',
  ])('that only looks like a known one is unknown: "%s"', name => {
    expect(namesOf(name)).toEqual([])
  })

  test('of the table is found by itself, and so is each of its aliases', () => {
    for (const gpu of gpus) {
      expect(namesOf(gpu.name)).toEqual([gpu.name])
      for (const alias of gpu.aliases) expect(namesOf(alias)).toContain(gpu.name)
    }
  })

  test('that is unknown has neighbours to name, the most alike first', () => {
    expect(nearestGpuNames('NVIDIA-H1000-160GB', gpus)[0]).toBe('h100-80gb')
    expect(nearestGpuNames('rtx4900', gpus)).toContain('rtx4090')
    expect(nearestGpuNames('a100-88gb', gpus, 2)).toEqual(expect.arrayContaining(['a100-80gb']))
    expect(nearestGpuNames('zx9000', gpus, 5)).toHaveLength(5)
  })
})

describe('a MIG slice', () => {
  test.each([
    ['a100_3g.20gb', '3g.20gb'],
    ['NVIDIA-A100-SXM4-80GB-MIG-1g.10gb', '1g.10gb'],
    ['1g.5gb', '1g.5gb'],
    ['a100l.2g.20gb', '2g.20gb'],
    ['a100-80gb', undefined],
    ['a100', undefined],
  ])('is read from %s', (name, profile) => {
    expect(migProfileIn(name)).toBe(profile)
  })

  test('is three sevenths of the compute and half of the memory of an A100 of 40 GB', () => {
    const slice = sliceOf(gpuNamed('a100-40gb'), '3g.20gb')
    expect(slice?.share).toBeCloseTo(3 / 7)
    expect(slice?.gpu.memoryBytes).toBe(20 * 2 ** 30)
    expect(slice?.gpu.flopsPerSecond.bf16).toBeCloseTo((312e12 * 3) / 7, -3)
    expect(slice?.gpu.bandwidthBytesPerSecond).toBe(777.5e9)
    expect(slice?.gpu.linkBytesPerSecond).toBeUndefined()
  })

  test('of an A30 is counted in quarters', () => {
    expect(sliceOf(gpuNamed('a30'), '2g.12gb')?.share).toBe(0.5)
  })

  test('mixture has the share of its average and the memory of its largest', () => {
    const slice = sliceOf(gpuNamed('h100'), '2x 1g.10gb + 1x 3g.40gb')
    expect(slice?.share).toBeCloseTo(5 / 7 / 3)
    expect(slice?.gpu).toMatchObject({ name: 'h100-80gb 2x 1g.10gb + 1x 3g.40gb', memoryBytes: 40 * 2 ** 30 })
    const names = gpusWithSlices('2x 1g.10gb + 1x 3g.40gb', gpus).map(gpu => gpu.name)
    expect(names).toEqual(['a100-80gb', 'h100-80gb'])
  })

  test('that the GPU does not have is not made', () => {
    expect(sliceOf(gpuNamed('a100-80gb'), '3g.20gb')).toBeUndefined()
    expect(sliceOf(gpuNamed('t4'), '1g.10gb')).toBeUndefined()
  })
})

test('an MI250X is the die that schedulers count: half of the card', () => {
  const die = gpuNamed('mi250x')
  expect(die.memoryBytes).toBe(64 * 2 ** 30)
  expect(die.flopsPerSecond.fp16).toBe(191.5e12)
})

describe('the common name of a GPU type', () => {
  test.each([
    ['NVIDIA-A100-SXM4-80GB', 'a100-80gb'],
    ['nvidia_a100_80gb_pcie', 'a100-80gb'],
    ['NVIDIA-H100-80GB-HBM3', 'h100-80gb'],
    ['A100', 'a100'],
    ['h100', 'h100'],
    ['nvidia_h100_pcie', 'h100'],
    ['v100-32gb', 'v100-32gb'],
    ['v100l', 'v100-32gb'],
    ['Tesla-V100', 'v100'],
    ['a100_3g.20gb', 'a100-40gb'],
    ['rtxa6000', 'a6000'],
    ['mi250x', 'mi250x'],
    ['zx9000', ''],
    ['1g.10gb', 'a100,h100-80gb'],
  ])('%s is %s', (name, common) => {
    expect(commonGpuNames(name, gpus).join()).toBe(common)
  })
})
