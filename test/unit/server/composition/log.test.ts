import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../../../src/server/composition/log.ts'

describe('the log', () => {
  beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 2, 1, 8) }))
  afterEach(() => void vi.useRealTimers())

  function start(level: 'debug' | 'info' | 'warn' = 'info') {
    const lines: string[] = []
    const log = createLog(level, { isTty: false, write: (text) => void lines.push(text) })
    const records = () => lines.map((line) => JSON.parse(line))
    return { log, lines, records }
  }

  it('writes the first 10 failures of a kind in full, and a count of the rest every 10 s', () => {
    const { log, records } = start()
    for (let call = 0; call < 1_000; call++)
      log.error(
        { operation: 'GetAuthWhoami', status: 503, code: 'x', correlation_id: `c${call}`, err: new Error('a') },
        'request failed',
      )
    expect(records().map((record) => record.correlation_id)).toEqual(
      Array.from({ length: 10 }, (_, call) => `c${call}`),
    )
    expect(records()[9].err.stack).toContain('Error: a')
    vi.advanceTimersByTime(10_000)
    expect(records().slice(10)).toEqual([
      {
        level: 'error',
        time: '2026-03-01T08:00:10.000Z',
        operation: 'GetAuthWhoami',
        status: 503,
        code: 'x',
        error: 'Error',
        of: 'request failed',
        records: 990,
        msg: 'more of the same',
      },
    ])
    log.error({ operation: 'GetAuthWhoami', status: 503, code: 'x', err: new Error('a') }, 'request failed')
    expect(records()).toHaveLength(12)
  })

  it.each([
    ['operation', { operation: 'PostAuthzCheck', status: 403, code: 'a' }],
    ['code', { operation: 'GetAuthWhoami', status: 403, code: 'b' }],
  ])('counts another %s apart', (_mark, other) => {
    const { log, lines } = start()
    for (let call = 0; call < 50; call++)
      log.info({ operation: 'GetAuthWhoami', status: 403, code: 'a' }, 'request refused')
    for (let call = 0; call < 50; call++) log.info(other, 'request refused')
    expect(lines).toHaveLength(20)
  })

  it('counts the levels and the messages of a call without members apart', () => {
    const { log, records } = start()
    for (let call = 0; call < 20; call++) {
      log.warn('one')
      log.warn('two')
      log.error('one')
    }
    expect(records()).toHaveLength(30)
    log.flush()
    expect(
      records()
        .slice(30)
        .map(({ level, of, records: left }) => [level, of, left]),
    ).toEqual([
      ['warn', 'one', 10],
      ['warn', 'two', 10],
      ['error', 'one', 10],
    ])
  })

  it('stays bounded where kinds are without number', () => {
    const { log, lines } = start()
    for (let kind = 0; kind < 20_000; kind++) log.warn(`kind ${kind}`)
    expect(lines).toHaveLength(1_010)
    log.flush()
    expect(lines).toHaveLength(1_011)
  })

  it('leaves out nothing at debug', () => {
    const { log, lines } = start('debug')
    for (let call = 0; call < 100; call++) log.info('a')
    expect(lines).toHaveLength(100)
  })

  it('writes no count of what its level leaves out', () => {
    const { log, lines } = start('warn')
    for (let call = 0; call < 100; call++) log.info('a')
    log.flush()
    expect(lines).toEqual([])
  })
})
