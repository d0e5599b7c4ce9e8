import { describe, expect, it } from 'vitest'
import { connectionHints } from '../../../../src/cli/errors/connection-hints.ts'
import { TransportFailure } from '../../../../src/client/failures.ts'

const failed = (code: string): TransportFailure =>
  new TransportFailure('unreachable', `no connection (${code})`, Object.assign(new Error(code), { code }))

describe('A failed connection', () => {
  it.each([
    ['ECONNREFUSED', 'check the port'],
    ['ENOTFOUND', 'check how it is written'],
    ['EAI_AGAIN', 'check the network and the resolver'],
    ['ETIMEDOUT', 'the firewalls on the way'],
  ])('with %s says what to look at', (code, advice) => {
    expect(connectionHints(failed(code))).toEqual([expect.stringContaining(advice)])
  })

  it('says nothing more where its cause is not one of the network', () => {
    expect(connectionHints(failed('EACCES'))).toEqual([])
    expect(connectionHints(new TransportFailure('timeout', 'no answer within 5 s'))).toEqual([])
  })
})
