import { describe, expect, it } from 'vitest'
import { isWhole, joinedClaims, personOf } from '../../../../../src/server/slices/sign-in/person.ts'

const binding = { claims: { subject: 'sub', email: 'email', name: 'name', groups: 'groups', domain: null } }

describe('What userinfo adds to an ID token', () => {
  it('is asked for where the token leaves out a claim that the binding reads', () => {
    expect(isWhole(binding, { sub: 'a', email: 'a@b.example', name: 'A', groups: [] })).toBe(true)
    expect(isWhole(binding, { sub: 'a', email: 'a@b.example', name: 'A' })).toBe(false)
  })

  it('is what the token leaves out, and never who it is or how they authenticated', () => {
    const said = { sub: 'b', name: 'B', groups: ['ops'], acr: 'urn:mfa', amr: ['otp'], auth_time: 1, nonce: 'x' }
    expect(joinedClaims(binding, { sub: 'a', name: 'A' }, said)).toEqual({
      sub: 'a',
      name: 'A',
      groups: ['ops'],
      email: undefined,
      email_verified: undefined,
    })
  })

  it.each([
    [{ email: 'a@b.example' }, { email: 'c@d.example', email_verified: true }, undefined],
    [{ email_verified: true }, { email: 'a@b.example', email_verified: false }, undefined],
    [{ email_verified: true }, { email: 'a@b.example' }, undefined],
    [{}, { email: 'a@b.example', email_verified: true }, 'a@b.example'],
    [{ email: 'a@b.example', email_verified: true }, { email: 'c@d.example' }, 'a@b.example'],
  ])('verifies an address only where the same document names it: %j, %j', (claims, userinfo, email) => {
    expect(personOf(binding, { sub: 'a', ...joinedClaims(binding, claims, userinfo) })?.email).toBe(email)
  })
})
