import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'

// Lets the process that runs the tests name, and end, one whose event loop is blocked (scripts/lib/overdue-tests.mjs).
const folder = process.env['CTL_TEST_ANNOUNCE']
if (folder !== undefined) {
  const path = join(folder, String(process.pid))
  writeFileSync(path, expect.getState().testPath ?? '')
  afterAll(() => rmSync(path, { force: true }))
}
