import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runProgram } from '../../../../../src/cli/agent/system/run-program.ts'
import { ownProgram, type ProgramFile } from '../../../../../src/cli/agent/upgrade/program-file.ts'
import { upgradingOf } from '../../../../../src/cli/agent/upgrade/upgrading.ts'

describe('the file of the agent', () => {
  let folder: string
  const main = (): string => join(folder, 'ctl-agent.cjs')
  const open = async (path = main()): Promise<ProgramFile> => {
    const file = await ownProgram({ main: path, former: join(folder, 'former'), run: runProgram })
    if (file === undefined) throw new Error('it is no file of a release')
    return file
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-program-'))
    writeFileSync(main(), 'console.log("ctl 1.5.0")', { mode: 0o755 })
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('is what it was after a rollback, with its mode, and nothing else is left', async () => {
    const file = await open()
    const before = await file.checksum()
    await file.keep()
    writeFileSync(`${main()}.next`, 'broken', { mode: 0o600 })
    rmSync(main())
    expect(await file.checksum()).toBeUndefined()
    await file.restore()
    expect([await file.checksum(), statSync(main()).mode & 0o777]).toEqual([before, 0o755])
    expect(readFileSync(main(), 'utf8')).toContain('1.5.0')
    expect(readdirSync(folder).toSorted()).toEqual(['ctl-agent.cjs', 'ctl-agent.cjs.next', 'former'])
  })

  test('that is as it was is not written by a rollback', async () => {
    const file = await open()
    await file.keep()
    const { ino } = statSync(main())
    await file.restore()
    expect(statSync(main()).ino).toBe(ino)
  })

  test.each([
    ['process.exit(7)', 'it ends with status 7'],
    ['syntax error', 'it ends with status 1'],
    ['console.log("ctl 1.4.0")', 'is version 1.4.0, not 1.5.0'],
    ['console.log("hello")', 'is version unknown, not 1.5.0'],
  ])('with %s cannot be the agent', async (text, fault) => {
    writeFileSync(main(), text)
    expect(await (await open()).faultOf('1.5.0')).toContain(fault)
  })

  test('that other users can write is not started', async () => {
    chmodSync(main(), 0o777)
    expect(await (await open()).faultOf('1.5.0')).toBe(`${main()} can be written by other users: chmod go-w`)
  })

  test('that prints its version can be the agent', async () => {
    expect(await (await open()).faultOf('1.5.0')).toBeUndefined()
  })

  test('is what a link leads to', async () => {
    symlinkSync(main(), join(folder, 'link'))
    expect((await open(join(folder, 'link'))).path).toBe(main())
  })

  test('is none where the whole command line runs', async () => {
    writeFileSync(join(folder, 'ctl.js'), '')
    expect(
      await ownProgram({ main: join(folder, 'ctl.js'), former: join(folder, 'former'), run: runProgram }),
    ).toBeUndefined()
    expect(existsSync(join(folder, 'former'))).toBe(false)
  })
})

describe('a process', () => {
  test.each([
    ['without a watcher', {}, 7, { isWatched: false, isOrphan: false }],
    ['whose watcher lives', { CTL_AGENT_TRIAL: '7', INVOCATION_ID: 'x' }, 7, { isWatched: true, isOrphan: false }],
    [
      'of a service whose watcher has ended',
      { CTL_AGENT_TRIAL: '7', INVOCATION_ID: 'x' },
      1,
      { isWatched: false, isOrphan: true },
    ],
    ['of no service whose watcher has ended', { CTL_AGENT_TRIAL: '7' }, 1, { isWatched: false, isOrphan: false }],
  ])('%s knows it', (_, env, parent, expected) => {
    const { isWatched, isOrphan } = upgradingOf(undefined, env, () => parent)
    expect({ isWatched: isWatched(), isOrphan: isOrphan() }).toEqual(expected)
  })
})
