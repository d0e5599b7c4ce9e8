import { describe, expect, it } from 'vitest'
import { createProgress, progressLine } from '../../../../src/cli/output/progress.ts'
import type { Session } from '../../../../src/cli/session/session.ts'

/** As much of a session as progress sees, with a clock to be set. */
function watched(isTty: boolean, quiet = false) {
  const written: string[] = []
  const clock = { nowMs: 0 }
  const stderr = { isTty, columns: 80, write: (text: string) => void written.push(text) }
  const session = { io: { nowMs: () => clock.nowMs, stderr }, shared: { quiet } } as unknown as Session
  return { written, clock, session }
}

function reports(isTty: boolean, timesMs: readonly number[], quiet = false): readonly string[] {
  const { written, clock, session } = watched(isTty, quiet)
  const progress = createProgress(session, 'nodes')
  for (const [index, nowMs] of timesMs.entries()) {
    clock.nowMs = nowMs
    progress.at((index + 1) * 100)
  }
  progress.end()
  return written
}

describe('Progress', () => {
  it('says nothing of work that is soon over', () => {
    expect(reports(true, [100, 650])).toEqual([])
  })

  it('is one line redrawn on a terminal, and gone at the end', () => {
    expect(reports(true, [700, 750, 800])).toEqual([
      '\r\u001b[Knodes: 100, 143/s',
      '\r\u001b[Knodes: 300, 375/s',
      '\r\u001b[K',
    ])
  })

  it('is a plain line every five seconds elsewhere', () => {
    expect(reports(false, [1000, 5000, 6000, 9000])).toEqual(['nodes: 100, 100/s\n', 'nodes: 300, 50/s\n'])
  })

  it('is silent with --quiet', () => {
    expect(reports(true, [700, 9000], true)).toEqual([])
  })

  it.each([
    [{ what: 'x', done: 50, total: 100, seconds: 10 }, 'x: 50 of 100, 5.0/s, 10s left'],
    [{ what: 'x', done: 0, total: 100, seconds: 10 }, 'x: 0 of 100, 0.0/s'],
    [{ what: 'x', done: 3000, total: undefined, seconds: 2 }, 'x: 3000, 1500/s'],
  ])('of %j is %s', (standing, line) => {
    expect(progressLine(standing)).toBe(line)
  })
})
