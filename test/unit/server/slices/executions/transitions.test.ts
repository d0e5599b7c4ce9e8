import { describe, expect, it } from 'vitest'
import { afterReport, isEnd, nextOf, type Report } from '../../../../../src/server/slices/executions/transitions.ts'
import type { Status } from '../../../../../src/server/slices/executions/store.ts'

const AT = new Date('2026-03-01T08:00:02.000Z')
const STARTED = new Date('2026-03-01T08:00:01.000Z')
const SAID = { exit_code: 3, output: 'printed', error: 'wrong' }
const NOTHING = { exit_code: null, output: null, error: null }
const STATUSES = ['pending', 'ack', 'started', 'succeeded', 'failed', 'cancelled', 'timeout'] as const
const REPORTS = ['ack', 'started', 'succeeded', 'failed', 'cancelled'] as const
/** Every move that is allowed. */
const MOVES = ['pending ack', 'ack started', 'started succeeded', 'started failed', 'started cancelled']

const after = (status: Status, report: Report) =>
  afterReport({ status, started_at: status === 'started' ? STARTED : null }, report, AT)

describe('afterReport', () => {
  it('goes on one step at a time, takes a repetition as said, and refuses the rest', () => {
    for (const from of STATUSES)
      for (const status of REPORTS) {
        const outcome = after(from, { status, ...SAID })
        const told = typeof outcome === 'string' ? outcome : `to ${outcome.status}`
        const expected = MOVES.includes(`${from} ${status}`) ? `to ${status}` : from === status ? 'repeated' : 'illegal'
        expect(told, `${from}, told ${status}`).toBe(expected)
      }
  })

  it('keeps what was printed with an end alone', () => {
    const open = { finished_at: null, ...NOTHING }
    expect(after('pending', { status: 'ack', ...SAID })).toEqual({ status: 'ack', started_at: null, ...open })
    expect(after('ack', { status: 'started', ...SAID })).toEqual({ status: 'started', started_at: AT, ...open })
    const ended = { status: 'failed', started_at: STARTED, finished_at: AT }
    expect(after('started', { status: 'failed', ...SAID })).toEqual({ ...ended, ...SAID })
    expect(after('started', { status: 'failed' })).toEqual({ ...ended, ...NOTHING })
  })
})

describe('isEnd', () => {
  it('is true of what nothing follows', () => {
    expect(STATUSES.filter(isEnd)).toEqual(['succeeded', 'failed', 'cancelled', 'timeout'])
  })
})

describe('nextOf', () => {
  it.each([
    ['pending', 'is pending, after which comes ack'],
    ['started', 'is started, after which comes succeeded or failed or cancelled'],
    ['timeout', 'is timeout, after which nothing comes'],
  ] as const)('says what follows %s', (status, sentence) => {
    expect(nextOf(status)).toBe(sentence)
  })
})
