import { defineConfig } from 'vitest/config'
import { depth } from './test/support/run/depth.ts'
import { LongestFirst } from './test/support/run/longest-first.ts'
import { projects } from './test/support/run/projects.ts'

export default defineConfig({
  test: {
    setupFiles: ['test/support/run/announce-file.ts', 'test/support/run/patience.ts'],
    // What is done a hundred times as often takes its time.
    testTimeout: depth({ ci: 180_000, deep: 600_000 }),
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 50 } },
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    projects,
  },
})
