import { EventEmitter } from 'node:events'
import type * as Fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runApp } from '../../../../src/cli/app.ts'
import { endAfter, endWithOutput, guardProcess } from '../../../../src/cli/errors/guard.ts'
import { processIo } from '../../../../src/cli/output/process-io.ts'
import { manifest } from '../../../support/cli/cli-run.ts'

const said = vi.hoisted((): string[] => [])
vi.mock('node:fs', async (original) => ({
  ...(await original<typeof Fs>()),
  writeSync: (_: number, text: string) => said.push(text),
}))

const failure = (code: string, syscall = 'write'): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall })

describe('The guard of the process', () => {
  const argv = process.argv
  let left: number[] = []
  beforeEach(() => {
    said.length = 0
    left = []
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      left.push(Number(code))
      throw new Error('exit')
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
    process.argv = argv
  })

  it.each([failure('EPIPE'), failure('ECONNRESET'), failure('ENOSPC')])(
    'takes what a socket or a file throws for no failure of the output: %s',
    (error) => {
      expect(() => endAfter(error)).toThrow('exit')
      expect(left).toEqual([1])
      expect(said.join('')).toContain(`error: this is a fault in ctl: ${error.message}\n`)
    },
  )

  it.each([
    ['EPIPE', 0, ''],
    ['ENOSPC', 1, 'error: the output cannot be written (ENOSPC)\n'],
  ])('ends with the output: %s', (code, exitCode, text) => {
    const stream = new EventEmitter() as NodeJS.WriteStream
    endWithOutput(stream)
    expect(() => stream.emit('error', failure(code))).toThrow('exit')
    expect([left, said.join('')]).toEqual([[exitCode], text])
  })

  it.each([
    [['--debug'], true],
    [['-v'], true],
    [['--trace'], true],
    [[], false],
  ])('shows the stack where that was asked for: %j', (flags, isShown) => {
    process.argv = ['node', 'ctl', ...flags]
    expect(() => endAfter(new Error('oops'))).toThrow('exit')
    expect(/\n\s*at /.test(said.join(''))).toBe(isShown)
  })

  it('reports one fault, so that reporting it cannot go on for ever', () => {
    const once = vi.spyOn(process, 'once').mockReturnValue(process)
    guardProcess()
    expect(once.mock.calls).toEqual([['uncaughtException', endAfter]])
  })

  it.each([
    [['--no-color', 'serve', '--help'], 0],
    [['serve', '--help'], 0],
    [['--no-color', 'nodes', 'list', '--help'], 1],
    [['nodes', 'lst'], 1],
  ])('leaves the faults of a server to its log, wherever its word is: %j', async (words, count) => {
    const guard = vi.fn<() => void>()
    const silent = { isTty: false, columns: 80, rows: 24, write: () => undefined }
    const io = { ...processIo(), stdout: silent, stderr: silent }
    await runApp(words, { io, version: '0', manifest: () => manifest, guard })
    expect(guard).toHaveBeenCalledTimes(count)
  })
})
