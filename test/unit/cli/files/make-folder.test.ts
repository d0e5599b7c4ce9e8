import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeFolder } from '../../../../src/cli/files/make-folder.ts'

describe('Making a folder', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-make-folder-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('makes those around it with the same mode, and leaves one that is there', () => {
    const path = join(directory, 'a', 'b')
    makeFolder(path, 0o700)
    makeFolder(path, 0o755)
    expect([join(directory, 'a'), path].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o700])
  })

  it.each(['file', 'file/below'])('is refused where a file has the name: %s', (path) => {
    writeFileSync(join(directory, 'file'), '')
    expect(() => makeFolder(join(directory, path))).toThrow(/EEXIST|ENOTDIR/)
  })

  it.skipIf(!existsSync('/proc/self'))('ends where the system refuses it with ENOENT', () => {
    expect(() => makeFolder('/proc/ctl/a/b')).toThrow(/ENOENT/)
  })
})
