import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findFiles } from '../../../../src/cli/domain-files/folder/find-files.ts'
import { UNFINISHED_FILE } from '../../../../src/cli/domain-files/folder/layout.ts'
import { readFolder, readSetHead } from '../../../../src/cli/domain-files/folder/read-folder.ts'
import { assertSetFolder, writeFolder } from '../../../../src/cli/domain-files/folder/write-folder.ts'
import { inParallel } from '../../../../src/cli/domain-files/gateway.ts'
import { manifest } from '../../../support/cli/cli-run.ts'

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
    expect(await readSetHead(folder)).toEqual({ set: 'web', domain: undefined })
  })

  it('has no name that a faulty set file could change unnoticed', async () => {
    await writeFolder(folder, [{ ...SET, text: 'format: 1\nset: Web!\n' }])
    await expect(readSetHead(folder)).rejects.toMatchObject({
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

  it('is filled by a second export where the first one was killed, and nothing is applied from it before', async () => {
    // As writeFolder leaves it where it is killed: without its set file, with a part of a file.
    mkdirSync(join(folder, 'groups'), { recursive: true })
    writeFileSync(join(folder, UNFINISHED_FILE), '')
    writeFileSync(join(folder, 'groups/gone.yaml'), 'kind: group\n')
    writeFileSync(join(folder, 'groups/ops.yaml.4711.part'), 'ki')
    await expect(readFolder(folder, { cwd: '/', manifest })).rejects.toMatchObject({
      exitCode: 2,
      message: `The export to ${folder} was not finished`,
      hints: [`Run it again: ctl export ${folder}`],
    })
    await expect(assertSetFolder(folder)).resolves.toBeUndefined()
    await writeFolder(folder, [SET, GROUP], { isPruning: true })
    expect(readdirSync(folder, { recursive: true }).toSorted()).toEqual(['ctl.yaml', 'groups', 'groups/ops.yaml'])
  })

  it('keeps and names what was written by hand, until that is to be removed', async () => {
    await writeFolder(folder, [SET, GROUP])
    writeFileSync(join(folder, 'groups/mine.yaml'), 'kind: group\n')
    expect(await writeFolder(folder, [SET, GROUP])).toEqual({ written: 0, unchanged: 2, extra: ['groups/mine.yaml'] })
    expect(existsSync(join(folder, 'groups/mine.yaml'))).toBe(true)
    const pruned = await writeFolder(folder, [SET, GROUP], { isPruning: true })
    expect([pruned.extra, existsSync(join(folder, 'groups/mine.yaml'))]).toEqual([['groups/mine.yaml'], false])
  })

  it.each([
    [
      'a conflict of a merge',
      'groups/a.yaml',
      'kind: group\n<<<<<<< HEAD\nname: a\n',
      'groups/a.yaml:2:1: a conflict of a merge;',
    ],
    ['a later format', 'ctl.yaml', 'format: 2\nset: web\n', 'ctl.yaml:1:1: the files have a later format'],
    [
      'a number in place of text',
      'groups/a.yaml',
      'kind: group\nname: a\ndisplay_name: 5432\n',
      'groups/a.yaml:3:1: expected text; quote it: "5432"',
    ],
  ])('is refused with the way out of %s', async (_what, path, text, hint) => {
    await writeFolder(folder, [SET, { path, text }].slice(path === SET.path ? 1 : 0))
    await expect(readFolder(folder, { cwd: '/', manifest })).rejects.toMatchObject({
      exitCode: 9,
      hints: [expect.stringContaining(hint)],
    })
  })

  it('has the mark of an unfinished export from the first file to the last', async () => {
    mkdirSync(join(folder, 'groups/ops.yaml'), { recursive: true }) // A file of that name cannot be written.
    await expect(writeFolder(folder, [SET, GROUP])).rejects.toThrow(/cannot be written/)
    expect(readdirSync(folder)).toContain(UNFINISHED_FILE)
  })

  it('is refused before a file is written where it would have more than can be read again', async () => {
    const files = Array.from({ length: 100_001 }, (_, at) => ({ path: `groups/g${at}.yaml`, text: '' }))
    await expect(writeFolder(folder, files)).rejects.toThrow('at most 100000 files')
    expect(existsSync(folder)).toBe(false)
  })

  it.skipIf(!existsSync('/proc/self'))('is refused where no folder can be made', async () => {
    await expect(writeFolder('/proc/ctl-set', [SET, GROUP])).rejects.toMatchObject({
      exitCode: 2,
      message: '/proc/ctl-set cannot be written (ENOENT)',
    })
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
