import { expect, test } from 'vitest'
import { isLostWithNode } from '../../src/workloads/lost-folders.ts'
import { roleOf } from '../builders.ts'

test.each(['/tmp/out', '/dev/shm', '$TMPDIR/out'])('%s goes with the node', folder => {
  expect(isLostWithNode(folder, undefined)).toBe(true)
})

test.each(['out', '/tmpfiles/out', '$SCRATCH/out', 's3://bucket/tmp', '$TMPDIRS/x'])(
  'nobody says that of %s',
  folder => {
    expect(isLostWithNode(folder, undefined)).toBe(false)
  },
)

test('a pod keeps what it writes to a claimed volume, and loses what it writes to an empty one', () => {
  const role = roleOf({
    mountedFolders: [
      { path: '/scratch/', isLost: true },
      { path: '/tmp/kept', isLost: false },
    ],
  })
  expect(isLostWithNode('/scratch/out', role)).toBe(true)
  expect(isLostWithNode('/scratches/out', role)).toBe(false)
  expect(isLostWithNode('/tmp/kept/out', role)).toBe(false)
  expect(isLostWithNode('/tmp/other', role)).toBe(true)
})
