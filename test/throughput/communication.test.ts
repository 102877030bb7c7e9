import { describe, expect, it } from 'vitest'
import { allToAllSeconds, networkRate } from '../../src/throughput/communication.ts'
import { gpuOf } from '../builders.ts'

const wires = { linkShare: 0.5, networkShare: 0.5 }

describe('tokens on the way to their experts', () => {
  const gpu = gpuOf('a100-80gb', { linkBytesPerSecond: 600e9, pcieGeneration: 4 })

  it('stay on the links inside one machine: 8 copies of 1 GB, of which 7/8 leave, at 150 GB/s', () => {
    const seconds = allToAllSeconds(1e9, 8, 8, { gpu, gpuCount: 8, gpusPerMachine: 8 }, wires)
    expect(seconds).toBeCloseTo((8 * 1e9 * (7 / 8)) / 150e9, 9)
  })

  it('cross the network once for each machine that they meet', () => {
    // Two experts on two machines: a token meets 2 x (1 - 1/4) = 1.5 of them, half of which are its own.
    const hardware = { gpu, gpuCount: 16, gpusPerMachine: 8, networkBytesPerSecond: 200e9 }
    const seconds = allToAllSeconds(1e9, 2, 16, hardware, wires)
    expect(seconds).toBeCloseTo((2 * 1e9 * (7 / 8)) / 150e9 + (1.5 * 1e9 * 0.5) / 12.5e9, 9)
  })
})

describe('a network nobody described', () => {
  it.each([
    ['V100', 300e9, 3, 12.5e9],
    ['A100', 600e9, 4, 25e9],
    ['H100', 900e9, 5, 50e9],
    // Its links are cut to 400 GB/s, its adapters are not (arXiv 2412.19437, section 3.1).
    ['H800', 400e9, 5, 50e9],
  ])('has an adapter for each %s, as fast as its slot', (name, linkBytesPerSecond, pcieGeneration, rate) => {
    const gpu = gpuOf(name, { linkBytesPerSecond, pcieGeneration })
    expect(networkRate({ gpu, gpuCount: 16, gpusPerMachine: 8 })).toBe(rate)
  })
})
