import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openTable } from '../../src/csv.ts'
import { measuredRunColumns, readCalibration } from '../../src/throughput/calibration.ts'

const csv = readFileSync(fileURLToPath(new URL('../../pricing-data/measured-runs.csv', import.meta.url)), 'utf8')

test('the shipped table has its columns in the order that they are read in', () => {
  expect(csv.slice(0, csv.indexOf('\n'))).toBe(measuredRunColumns.join(','))
})

test('a measured run has what its line says, and no stack where the line names none', () => {
  const runs = openTable(`${measuredRunColumns.join(',')}
decoder,llama-a100,32x4096,shape,megatronlm,a100-80gb,Ampere,bf16,lora,elapsed,22.6 7.62 0.00,-0.25
encoder,bert-t4,12x768,shape,,t4,Turing,fp16,full,rate,18.5 6.24 1.39,0.1
`)
  const { runsOf } = readCalibration(openTable('constant,value\n'), runs)
  expect(runsOf('convolutional')).toEqual([])
  expect(runsOf('decoder')).toMatchObject([
    {
      id: 'llama-a100',
      logError: -0.25,
      traits: {
        kind: 'decoder',
        model: '32x4096',
        counted: 'shape',
        stack: 'megatronlm',
        gpu: 'a100-80gb',
        architecture: 'Ampere',
        precision: 'bf16',
        method: 'lora',
        measured: 'elapsed',
        sizes: [22.6, 7.62, 0],
      },
    },
  ])
  expect(runsOf('encoder')[0]?.traits.stack).toBeUndefined()
})
