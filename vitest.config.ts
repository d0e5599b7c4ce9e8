import { defineConfig } from 'vitest/config'
import { depth } from './test/support/run/depth.ts'
import { LongestFirst } from './test/support/run/longest-first.ts'
import { ownProcess, sharedProcess } from './test/support/run/shared-process.ts'

export default defineConfig({
  test: {
    setupFiles: ['test/support/run/announce-file.ts'],
    // What is done a hundred times as often takes its time.
    testTimeout: depth({ ci: 30_000, deep: 600_000 }),
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'own process', ...ownProcess } },
      { extends: true, test: { name: 'shared process', isolate: false, ...sharedProcess } },
    ],
  },
})
