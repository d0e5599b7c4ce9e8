import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { withScratch } from '../../../../../src/server/backup/verify/scratch.ts'

const folder = mkdtempSync(join(tmpdir(), 'ctl-scratch-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => vi.restoreAllMocks())

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('a scratch directory is removed when %s ends the command with exit code %i', async (signal, exitCode) => {
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never)
  const before = process.listeners(signal)
  await withScratch(folder, async ({ path }) => {
    writeFileSync(join(path, 'rows'), 'of a backup')
    // Only the listener of the directory: others of this process are not the subject.
    for (const listener of process.listeners(signal).filter((each) => !before.includes(each))) listener(signal)
    expect(existsSync(path)).toBe(false)
  })
  expect(exit.mock.calls).toEqual([[exitCode]])
  expect(process.listeners(signal)).toEqual(before)
  expect(readdirSync(folder)).toEqual([])
})
