import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // each file in a process of its own, as tests start programs and change folders
    pool: 'forks',
    // the real schedulers answer in their own time
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
