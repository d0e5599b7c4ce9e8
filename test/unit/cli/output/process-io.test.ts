import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { processIo } from '../../../../src/cli/output/process-io.ts'

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

describe('An interruption of the process', () => {
  const heard = new Map<string, (name: Signal) => void>()
  let nowMs = 0
  let left: number[] = []
  beforeEach(() => {
    ;[nowMs, left] = [0, []]
    vi.spyOn(Date, 'now').mockImplementation(() => nowMs)
    // The signals of the test runner stay its own.
    vi.spyOn(process, 'on').mockImplementation((name, listener) => {
      heard.set(String(name), listener)
      return process
    })
    vi.spyOn(process, 'exit').mockImplementation((code) => left.push(Number(code)) as never)
  })
  afterEach(() => vi.restoreAllMocks())
  const send = (name: Signal): void => heard.get(name)?.(name)

  test.each([
    ['SIGINT', false, 130],
    ['SIGTERM', true, 143],
    // The terminal was closed.
    ['SIGHUP', true, 143],
  ] as const)('by %s ends things in order, and at once when it comes again', (name, isTerminated, exitCode) => {
    const io = processIo()
    expect([io.interrupted.aborted, io.isTerminated]).toEqual([false, false])
    send(name)
    expect([io.interrupted.aborted, io.isTerminated, left]).toEqual([true, isTerminated, []])
    nowMs = 1_000
    send(name)
    expect(left).toEqual([exitCode])
  })

  test('is one although timeout(1) sends it to the command and to its group', () => {
    const io = processIo()
    expect(io.interrupted.aborted).toBe(false)
    send('SIGTERM')
    nowMs = 5
    send('SIGTERM')
    expect(left).toEqual([])
  })

  test('is that of the first signal', () => {
    const io = processIo()
    expect(io.interrupted.aborted).toBe(false)
    send('SIGINT')
    send('SIGTERM')
    expect(io.isTerminated).toBe(false)
  })
})
