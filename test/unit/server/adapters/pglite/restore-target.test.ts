import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openEmbeddedTarget } from '../../../../../src/server/adapters/pglite/restore-target.ts'
import { BootError } from '../../../../../src/server/ports/boot-error.ts'

const folder = mkdtempSync(join(tmpdir(), 'ctl-target-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('a data directory that cannot be made is refused in one sentence', async () => {
  writeFileSync(join(folder, 'file'), '')
  const opened = openEmbeddedTarget(join(folder, 'file', 'data'), () => undefined)
  await expect(opened).rejects.toThrow(BootError)
  await expect(opened).rejects.toThrow('is not a directory: choose another with --data-dir')
})

it('a data directory with a datastore is refused, and given back as it was', async () => {
  const data = join(folder, 'data')
  mkdirSync(join(data, 'database'), { recursive: true })
  writeFileSync(join(data, 'database', 'ready'), '18\n')
  await expect(openEmbeddedTarget(data, () => undefined)).rejects.toThrow('There is a datastore in')
  expect(readdirSync(data)).toEqual(['database'])
})

it('what a killed restore left is removed before anything else', async () => {
  const data = join(folder, 'killed')
  mkdirSync(join(data, 'restoring', 'database'), { recursive: true })
  const target = await openEmbeddedTarget(data, () => undefined)
  expect(existsSync(join(data, 'restoring'))).toBe(false)
  await target.close()
  expect(readdirSync(data)).toEqual([])
})
