import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findFiles } from '../../../../src/cli/domain-files/folder/find-files.ts'
import { readSetName } from '../../../../src/cli/domain-files/folder/read-folder.ts'
import { writeFolder } from '../../../../src/cli/domain-files/folder/write-folder.ts'
import { inParallel } from '../../../../src/cli/domain-files/gateway.ts'

const SET = { path: 'ctl.yaml', text: 'format: 1\nset: web\n' }
const GROUP = { path: 'groups/ops.yaml', text: 'kind: group\n' }
const SCHEMA = { path: '.schema/group.json', text: '{}\n' }

describe('The folder of a set', () => {
  let directory: string
  let folder: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-folder-'))
    folder = join(directory, 'set')
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('keeps its name where another file of it has a fault', async () => {
    await writeFolder(folder, [SET, GROUP])
    writeFileSync(join(folder, 'groups/broken.yaml'), 'kind: [')
    expect(await readSetName(folder)).toBe('web')
  })

  it('has no name that a faulty set file could change unnoticed', async () => {
    await writeFolder(folder, [{ ...SET, text: 'format: 1\nset: Web!\n' }])
    await expect(readSetName(folder)).rejects.toMatchObject({
      exitCode: 9,
      hints: [expect.stringContaining('ctl.yaml:2:1')],
    })
  })

  it.each(['.schema', 'groups'])('is not written through a link to elsewhere: %s', async (name) => {
    const other = join(directory, 'other')
    mkdirSync(folder)
    mkdirSync(other)
    symlinkSync(other, join(folder, name))
    await expect(writeFolder(folder, [SET, GROUP, SCHEMA])).rejects.toThrow(/ is a link/)
    expect(readdirSync(other)).toEqual([])
  })

  it('has no pipe among its files, whose opening would wait', async () => {
    await writeFolder(folder, [SET, GROUP])
    execFileSync('mkfifo', [join(folder, 'groups/pipe.yaml')])
    expect(await findFiles(folder)).toEqual(['ctl.yaml', 'groups/ops.yaml'])
  })
})

describe('Tasks at a time', () => {
  it('end with the first failure: no further one begins', async () => {
    const begun: number[] = []
    const task = async (item: number): Promise<void> => {
      begun.push(item)
      await Promise.resolve()
      if (item === 1) throw new Error('refused')
    }
    await expect(inParallel([1, 2, 3, 4, 5, 6, 7, 8], task, 2)).rejects.toThrow('refused')
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual([1, 2])
  })
})
