import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFailureRows } from '../../../../../src/server/http/audit/failure-rows.ts'
import type { AuditEntry } from '../../../../../src/server/ports/unit-of-work.ts'

describe('the rows of failures', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const entry = (correlationId: string): AuditEntry => ({
    domainId: null,
    subject: 'anonymous',
    relation: 'r',
    object: 'platform:main',
    outcome: 'permission_denied',
    reason: 'unauthenticated',
    correlationId,
    context: { source_address: '198.51.100.7' },
  })

  function start() {
    const emitted: (readonly [string, unknown])[] = []
    const rows = createFailureRows(({ correlationId, context }) => void emitted.push([correlationId, context['count']]))
    const fail = (times: number, { source = 'a', kind = 'k' } = {}) => {
      for (let time = 0; time < times; time++) rows.add(source, kind, entry(`${source}${kind}${time}`))
    }
    return { rows, fail, emitted }
  }

  it('are one each up to 10 in a minute, then one with the count of the rest', () => {
    const { fail, emitted } = start()
    fail(100)
    expect(emitted.map(([, count]) => count)).toEqual(Array.from({ length: 10 }))
    vi.advanceTimersByTime(60_000)
    expect(emitted.slice(10)).toEqual([['ak10', 90]])
    fail(1)
    expect(emitted).toHaveLength(12)
  })

  it('have no count where each has its own row', () => {
    const { fail, emitted } = start()
    fail(10)
    vi.advanceTimersByTime(120_000)
    expect(emitted).toHaveLength(10)
  })

  it('are counted apart by source and by kind', () => {
    const { fail, emitted } = start()
    fail(11)
    fail(11, { source: 'b' })
    fail(11, { kind: 'l' })
    expect(emitted).toHaveLength(30)
  })

  it('stay bounded where sources are without number', () => {
    const { rows, fail, emitted } = start()
    for (let source = 0; source < 20_000; source++) fail(1, { source: String(source) })
    expect(emitted).toHaveLength(10_010)
    rows.flush()
    expect(emitted).toHaveLength(10_011)
    expect(emitted.at(-1)).toEqual(['10010k0', 9_990])
  })
})
