import { createHmac, createSecretKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { pseudonymOf } from '../../../../../src/server/slices/identities/pseudonym.ts'
import type { Keyring } from '../../../../../src/server/ports/keyring.ts'

const DOMAIN = '01935b5e-8f3a-7c61-9d0a-000000000001'
const OTHER = '01935b5e-8f3a-7c61-9d0a-000000000002'

/** A ring whose pseudonym keys are those, current first. */
function ringOf(...ids: string[]): Keyring {
  return {
    mac: () => expect.fail('the current key must not be used'),
    macWith: (_purpose, id, data) =>
      createHmac('sha256', createSecretKey(Buffer.from(id.padEnd(32))))
        .update(data)
        .digest(),
    cacheKey: () => expect.fail('nothing is cached'),
    keyIds: () => ids,
  }
}

describe('the pseudonym of a subject', () => {
  it('is an HMAC over Domain and subject in hex', () => {
    const expected = createHmac('sha256', 'first'.padEnd(32)).update(`${DOMAIN}:robot`).digest('hex')
    expect(pseudonymOf(ringOf('first'), DOMAIN, 'robot')).toBe(expected)
    expect(expected).toMatch(/^[0-9a-f]{64}$/)
  })

  it('differs between Domains and between subjects', () => {
    const ring = ringOf('first')
    const all = [pseudonymOf(ring, DOMAIN, 'a'), pseudonymOf(ring, OTHER, 'a'), pseudonymOf(ring, DOMAIN, 'b')]
    expect(new Set(all).size).toBe(3)
  })

  it('stays when the ring gets a younger key', () => {
    expect(pseudonymOf(ringOf('second', 'first'), DOMAIN, 'a')).toBe(pseudonymOf(ringOf('first'), DOMAIN, 'a'))
  })

  it('cannot be made without a key', () => {
    expect(() => pseudonymOf(ringOf(), DOMAIN, 'a')).toThrow('the keyring has no pseudonym key')
  })
})
