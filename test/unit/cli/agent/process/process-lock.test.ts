import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lockOwner, takeLock } from '../../../../../src/cli/agent/process/process-lock.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-lock-'))
  path = join(folder, 'agent.lock')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe.skipIf(process.platform !== 'linux')('the lock of a state folder', () => {
  test('is held by one process at a time, and free after its release', async () => {
    const lock = await takeLock(path)
    expect((await lockOwner(path))?.pid).toBe(process.pid)
    await expect(takeLock(path)).rejects.toMatchObject({
      code: 'agent_running',
      exitCode: 6,
      message: expect.stringContaining(`process ${process.pid}`) as string,
    })
    await lock.release()
    expect(await readdir(folder)).toEqual([])
    await (await takeLock(path)).release()
  })

  test('of a process that has ended is taken over', async () => {
    const child = spawn('true')
    await once(child, 'exit')
    await writeFile(path, `${child.pid ?? 0} 12345\n`)
    expect(await lockOwner(path)).toBeUndefined()
    const lock = await takeLock(path)
    expect((await lockOwner(path))?.pid).toBe(process.pid)
    await lock.release()
  })

  test('of a process whose number another one has now is taken over', async () => {
    await writeFile(path, `${process.pid} 1\n`)
    expect(await lockOwner(path)).toBeUndefined()
    await (await takeLock(path)).release()
    expect(await readdir(folder)).toEqual([])
  })

  test('that was not written to its end is taken over', async () => {
    await writeFile(path, '')
    await (await takeLock(path)).release()
    expect(await readdir(folder)).toEqual([])
  })

  test('is not released by a process that does not hold it any more', async () => {
    const lock = await takeLock(path)
    await writeFile(path, 'another\n')
    await lock.release()
    expect(await readdir(folder)).toEqual(['agent.lock'])
  })
})
