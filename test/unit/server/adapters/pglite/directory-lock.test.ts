import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type DirectoryLock, lockDirectory } from '../../../../../src/server/adapters/pglite/directory-lock.ts'
import { ownIdentity, type ProcessIdentity } from '../../../../../src/server/adapters/pglite/process-identity.ts'

const WATCH_MS = 60

let directory: string
let taken: DirectoryLock[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ctl-lock-'))
  taken = []
  return () => rmSync(directory, { recursive: true })
})
afterEach(() => taken.forEach((lock) => lock.release()))

async function take(onLost: () => void = () => undefined): Promise<DirectoryLock> {
  const lock = await lockDirectory(directory, onLost, WATCH_MS)
  taken.push(lock)
  return lock
}

const leave = (name: string, holder: ProcessIdentity) => writeFileSync(join(directory, name), JSON.stringify(holder))

/** A process that was there a moment ago. */
async function deadProcess(): Promise<ProcessIdentity> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return { ...ownIdentity(), pid: child.pid ?? 0, startedAt: '1' }
}

const inUseBy = (pid: number) => ({
  name: 'BootError',
  exitCode: 1,
  message: `The data directory ${directory} is in use by process ${pid}: stop that, or give this server a --data-dir of its own.`,
})

test('a free directory is locked with the identity of this process', async () => {
  const lock = await take()
  expect(lock.wasAbandoned).toBe(false)
  expect(readdirSync(directory)).toEqual(['lock.1'])
  expect(JSON.parse(readFileSync(join(directory, 'lock.1'), 'utf8'))).toEqual(ownIdentity())
})

test('a locked directory is refused, naming the process that holds it', async () => {
  await take()
  await expect(take()).rejects.toMatchObject(inUseBy(process.pid))
  expect(readdirSync(directory)).toEqual(['lock.1'])
})

test('a lock that was given back can be taken again', async () => {
  const lock = await take()
  lock.release()
  expect(readdirSync(directory)).toEqual([])
  expect((await take()).wasAbandoned).toBe(false)
})

test('the lock of a dead process is taken over', async () => {
  leave('lock.7', await deadProcess())
  expect((await take()).wasAbandoned).toBe(true)
  expect(readdirSync(directory)).toEqual(['lock.8'])
})

test('a process that only has the number of the holder is not the holder', async () => {
  leave('lock.1', { ...ownIdentity(), startedAt: '1' })
  expect((await take()).wasAbandoned).toBe(true)
})

test('a running process is the holder when nothing is known of its start', async () => {
  leave('lock.1', { ...ownIdentity(), startedAt: '' })
  await expect(take()).rejects.toMatchObject(inUseBy(process.pid))
})

test('a holder that runs wins over a dead one before it', async () => {
  leave('lock.3', await deadProcess())
  leave('lock.4', ownIdentity())
  await expect(take()).rejects.toMatchObject(inUseBy(process.pid))
})

test('the lock of another container, host or boot is taken over when nobody keeps it fresh', async () => {
  leave('lock.1', { pid: 1, startedAt: '5', place: 'another boot' })
  expect((await take()).wasAbandoned).toBe(true)
  expect(readdirSync(directory)).toEqual(['lock.2'])
})

test('the lock of another container, host or boot is respected while somebody keeps it fresh', async () => {
  leave('lock.1', { pid: 1, startedAt: '5', place: 'another boot' })
  let seconds = 1_000
  const refresh = setInterval(() => utimesSync(join(directory, 'lock.1'), seconds, (seconds += 1)), 5)
  await expect(take()).rejects.toMatchObject(inUseBy(1))
  clearInterval(refresh)
})

test('a lock file that a power loss left empty counts as one from elsewhere', async () => {
  writeFileSync(join(directory, 'lock.1'), '')
  expect((await take()).wasAbandoned).toBe(true)
})

test('of two that find the same holder gone, one has the lock', async () => {
  leave('lock.1', { pid: 1, startedAt: '5', place: 'another boot' })
  const results = await Promise.allSettled([take(), take()])
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(readdirSync(directory)).toEqual(['lock.2'])
})

test('the holder keeps its lock fresh, and hears when the file is taken away', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const onLost = vi.fn()
    await take(onLost)
    utimesSync(join(directory, 'lock.1'), 1, 1)
    vi.advanceTimersByTime(1_000)
    expect(statSync(join(directory, 'lock.1')).mtimeMs).toBeGreaterThan(1_000)
    expect(onLost).not.toHaveBeenCalled()
    rmSync(join(directory, 'lock.1'))
    vi.advanceTimersByTime(1_000)
    expect(onLost).toHaveBeenCalled()
  } finally {
    vi.useRealTimers()
  }
})
