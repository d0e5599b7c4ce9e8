import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { watchTests } from '../../../scripts/lib/overdue-tests.mjs'

const EVERY_MS = 20
const FILE_MAX_MS = 60_000

describe('the watch over test files', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-announced-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** A process that never ends by itself. */
  function startHanging(): ChildProcess & { pid: number } {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    if (child.pid === undefined) throw new Error('the process did not start')
    return child as ChildProcess & { pid: number }
  }

  function announce(pid: number, file: string, agoMs: number): string {
    const path = join(folder, String(pid))
    writeFileSync(path, file)
    const since = new Date(Date.now() - agoMs)
    utimesSync(path, since, since)
    return path
  }

  function watch(idleMaxMs: number) {
    const onOverdue = vi.fn<(file: string) => void>()
    const onIdle = vi.fn<() => void>()
    const watching = watchTests({ folder, fileMaxMs: FILE_MAX_MS, idleMaxMs, everyMs: EVERY_MS, onOverdue, onIdle })
    onTestFinished(() => watching.stop())
    return { onOverdue, onIdle }
  }

  test('ends the process of a file that takes too long, names the file once and leaves others alone', async () => {
    const [late, other] = [startHanging(), startHanging()]
    const ended = once(late, 'exit')
    const announced = announce(late.pid, 'late.test.ts', FILE_MAX_MS + 1_000)
    announce(other.pid, 'other.test.ts', FILE_MAX_MS - 30_000)
    const { onOverdue, onIdle } = watch(EVERY_MS * 2)
    expect(await ended).toEqual([null, 'SIGKILL'])
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS * 5))
    expect(onOverdue.mock.calls).toEqual([['late.test.ts']])
    expect(existsSync(announced)).toBe(false)
    expect(other.exitCode ?? other.signalCode).toBeNull()
    expect(onIdle).not.toHaveBeenCalled()
  })

  test('forgets what a process that has crashed wrote of itself', async () => {
    const crashed = startHanging()
    crashed.kill('SIGKILL')
    await once(crashed, 'exit')
    const announced = announce(crashed.pid, 'crashed.test.ts', FILE_MAX_MS + 1_000)
    const { onOverdue } = watch(FILE_MAX_MS)
    await vi.waitFor(() => expect(existsSync(announced)).toBe(false))
    expect(onOverdue).not.toHaveBeenCalled()
  })

  test('says that nothing has run for too long', async () => {
    const { onIdle } = watch(EVERY_MS * 2)
    await vi.waitFor(() => expect(onIdle).toHaveBeenCalled())
  })
})
