import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { endProgram, runningProcesses } from '../../../../../src/cli/agent/system/background-program.ts'
import { keepRunning, type KeptProcess, type KeptProgram } from '../../../../../src/cli/agent/system/kept-process.ts'
import { writeProcessRecord } from '../../../../../src/cli/agent/system/process-record.ts'

const WITHIN = { timeout: 20_000, interval: 20 }

describe('a program in the background', () => {
  let folder: string
  let doesAnswer: boolean
  let watched: KeptProcess[]
  const lines: string[] = []

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-kept-'))
    doesAnswer = true
    watched = []
    lines.length = 0
  })
  afterEach(async () => {
    for (const each of watched) await each.stopWatching()
    await endProgram(sign())
    rmSync(folder, { recursive: true })
  })

  const family = () => ({ CTL_TUNNEL: join(folder, 'one') })
  const sign = () => ({ marks: family(), recordFile: join(folder, 'one.pid') })
  const pids = () => runningProcesses(sign())
  const program = (change: Partial<KeptProgram> = {}): KeptProgram => ({
    program: process.execPath,
    args: ['-e', `console.error('begun'); setInterval(() => {}, 1000)`],
    family: family(),
    marks: { ...family(), CTL_TUNNEL_CONFIG: 'a' },
    recordFile: join(folder, 'one.pid'),
    logFile: join(folder, 'one.log'),
    isReady: async () => doesAnswer,
    log: (line) => void lines.push(line),
    ...change,
  })
  async function keep(change: Partial<KeptProgram> = {}): Promise<KeptProcess> {
    const kept = await keepRunning(program(change))
    watched.push(kept)
    return kept
  }
  const isRunningAgain = (before: readonly number[]) =>
    vi.waitFor(() => {
      expect(pids()).toHaveLength(1)
      expect(pids()).not.toEqual(before)
    }, WITHIN)

  test('is taken over by the next agent with the same marks, and ended by one with others', async () => {
    await (await keep()).stopWatching()
    const [first] = [pids()]
    expect(first).toHaveLength(1)
    await (await keep()).stopWatching()
    expect(pids()).toEqual(first)
    await keep({ marks: { ...family(), CTL_TUNNEL_CONFIG: 'b' } })
    expect(pids()).toHaveLength(1)
    expect(pids()).not.toEqual(first)
  })

  test('is found by the record of its process, where its environment cannot be read', async () => {
    // One that another agent has started, in whose environment nothing is.
    await (await keep()).stopWatching()
    const [pid = 0] = pids()
    const record = join(folder, 'other.pid')
    const marks = { CTL_TUNNEL: join(folder, 'other') }
    expect(runningProcesses({ marks, recordFile: record })).toEqual([])
    writeProcessRecord(record, { pid, marks })
    expect(runningProcesses({ marks, recordFile: record })).toEqual([pid])
    expect(runningProcesses({ marks: { ...marks, CTL_TUNNEL_CONFIG: 'a' }, recordFile: record })).toEqual([])
    await endProgram({ marks, recordFile: record })
    expect([pids(), existsSync(record)]).toEqual([[], false])
  })

  test.each([
    ['of another boot of the machine', { boot_id: 'another' }],
    ['of an earlier process with the same number', { start_time: '1' }],
  ])('is not found by a record %s', (_, change) => {
    const record = join(folder, 'old.pid')
    writeProcessRecord(record, { pid: process.pid, marks: family() })
    expect(runningProcesses({ marks: family(), recordFile: record })).toEqual([process.pid])
    writeFileSync(record, JSON.stringify({ ...JSON.parse(readFileSync(record, 'utf8')), ...change }))
    expect(runningProcesses({ marks: family(), recordFile: record })).toEqual([])
    writeFileSync(record, '{"pid":')
    expect(runningProcesses({ marks: family(), recordFile: record })).toEqual([])
  })

  test('is taken over where its record cannot be written again, as on a full disk', async () => {
    await (await keep()).stopWatching()
    const before = pids()
    // A record is written beside its file first.
    mkdirSync(join(folder, `one.pid.${process.pid}.new`))
    await keep()
    expect(pids()).toEqual(before)
  })

  test('leaves nothing of a record that cannot be written', () => {
    const record = join(folder, 'taken.pid')
    mkdirSync(record)
    expect(() => writeProcessRecord(record, { pid: process.pid, marks: family() })).toThrow()
    expect(readdirSync(folder)).toEqual(['taken.pid'])
  })

  test('is never looked for without a mark, which every process would have', () => {
    expect(() => runningProcesses({ marks: {}, recordFile: join(folder, 'none.pid') })).toThrow('one mark at least')
  })

  test('is started again when it dies, with what it was prepared with', async () => {
    let prepared = 0
    await keep({ prepare: async () => void (prepared += 1) })
    const before = pids()
    process.kill(before[0] ?? 0, 'SIGKILL')
    await isRunningAgain(before)
    await vi.waitFor(() => expect(prepared).toBe(2), WITHIN)
  })

  test('is started again when it does not answer for long, and that is in the log', async () => {
    const kept = await keep({ silentMsMax: 200, probeMs: 50 })
    const before = pids()
    doesAnswer = false
    await vi.waitFor(() => expect(kept.fault()).toContain('does not answer'), WITHIN)
    doesAnswer = true
    await isRunningAgain(before)
    await vi.waitFor(() => expect(kept.fault()).toBeUndefined(), WITHIN)
    expect(lines).toEqual([expect.stringContaining('does not answer and is started again')])
  })

  test('stays, and keeps the agent no longer, where the agent ends before it is ready', async () => {
    const started: number[] = []
    const kept = await keep({ onStarted: async () => void started.push(1) })
    const before = pids()
    doesAnswer = false
    process.kill(before[0] ?? 0, 'SIGKILL')
    await isRunningAgain(before)
    const again = pids()
    await kept.stopWatching()
    expect([pids(), started]).toEqual([again, [1]])
  }, 60_000)

  test('goes on while it answers late once', async () => {
    await keep({ silentMsMax: 60_000, probeMs: 20 })
    const before = pids()
    doesAnswer = false
    let asked = 0
    watched.push(await keepRunning(program({ isReady: async () => (asked += 1) > 3, probeMs: 20 })))
    expect(pids()).toEqual(before)
  })

  test('is an error with the last line of its log where it ends at its start', async () => {
    const args = ['-e', `console.error('no such key'); process.exit(1)`]
    const failing = keepRunning(program({ args, isReady: async () => false }))
    await expect(failing).rejects.toThrow(`ended: no such key; its log is ${join(folder, 'one.log')}.`)
    expect(pids()).toEqual([])
  })

  test('is an error that names the package where it is not installed', async () => {
    await expect(keepRunning(program({ program: 'no-such-program' }))).rejects.toThrow(
      'no-such-program is not installed',
    )
  })
})
