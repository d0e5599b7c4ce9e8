import { describe, expect, it } from 'vitest'
import { newExecution, parametersOf } from '../../../../../src/server/executions/new-execution.ts'
import { toAnswer } from '../../../../../src/server/slices/executions/execution.ts'

const request = {
  id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b',
  nodeId: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c',
  domainId: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4d',
  requestedBy: 'user:x',
  at: new Date('2026-03-01T08:00:00.000Z'),
}
const body = { action: 'ping', type: 'builtin', expires_in_seconds: 300 } as const

describe('newExecution', () => {
  it('waits for its node until it expires', () => {
    expect(newExecution(request, body)).toMatchObject({
      status: 'pending',
      requested_at: request.at,
      expires_at: new Date('2026-03-01T08:05:00.000Z'),
      finished_at: null,
      parameters: null,
    })
  })

  it('keeps parameters in canonical form', () => {
    const kept = newExecution(request, { ...body, parameters: { b: 1e21, a: [true, null] } })
    expect(kept.parameters).toBe('{"a":[true,null],"b":1e+21}')
    expect(parametersOf(kept)).toEqual({ parameters: { a: [true, null], b: 1e21 } })
  })
})

describe('toAnswer', () => {
  it('has no parameters where none were given, and does not say the Domain', () => {
    const answer = toAnswer(newExecution(request, body))
    expect(answer).not.toHaveProperty('parameters')
    expect(answer).not.toHaveProperty('domain_id')
    expect(answer).toMatchObject({ execution_id: request.id, requested_at: '2026-03-01T08:00:00.000Z' })
  })
})
