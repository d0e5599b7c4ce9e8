import { describe, expect, it } from 'vitest'
import {
  acrValuesFor,
  authenticationOf,
  demandOf,
  lackOf,
} from '../../../../../src/server/slices/sign-in/authentication-strength.ts'

const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const NOW = NOW_MS / 1000
const binding = (requiredAcr: string[] = [], requiredAmr: string[] = []) => ({ requiredAcr, requiredAmr })

describe('the acr_values that a provider is asked for', () => {
  it.each([
    ['what the binding requires', ['mfa', 'phr'], [], 'mfa phr'],
    ['what the request names', [], ['hw'], 'hw'],
    ['those of the request that the binding takes', ['mfa', 'hw'], ['hw', 'phr'], 'hw'],
    ['those of the request where the binding takes none of them', ['mfa'], ['hw'], 'hw'],
    ['none', [], [], ''],
  ])('are %s', (_, required, acrValues, sent) => {
    const demand = demandOf(binding(required), { acrValues })
    expect(acrValuesFor(binding(required), demand).join(' ')).toBe(sent)
  })
})

describe('an answer of a provider that was asked for acr values', () => {
  const lack = (claims: object, required: string[] = []) =>
    lackOf(binding(required), { ...claims }, { ...demandOf(binding(required), { acrValues: ['hw'] }), nowMs: NOW_MS })

  it('has one of them', () => {
    expect(lack({ acr: 'hw' })).toBeUndefined()
  })

  it.each([
    ['that ignored them', { acr: 'pwd', auth_time: NOW }],
    ['that names none', { auth_time: NOW }],
    ['that names several', { acr: ['hw'], auth_time: NOW }],
  ])('is refused of one %s', (_, claims) => {
    expect(lack(claims)).toBe('the acr is not one that was asked for')
  })

  it('must satisfy the binding as well', () => {
    expect(lack({ acr: 'hw', auth_time: NOW }, ['mfa'])).toBe('the acr is not one required')
  })
})

describe('an answer of a provider that was asked for a max_age', () => {
  const lack = (claims: object, maxAgeSeconds = 60) =>
    lackOf(binding(), { ...claims }, { ...demandOf(binding(), { maxAgeSeconds, mustStateTime: true }), nowMs: NOW_MS })

  it.each([0, 60, 90])('is taken %d s after the sign-in, since clocks may differ by 30 s', (seconds) => {
    expect(lack({ auth_time: NOW - seconds })).toBeUndefined()
  })

  it('is refused 91 s after the sign-in', () => {
    expect(lack({ auth_time: NOW - 91 })).toBe('the authentication is too old')
  })

  it('states when the person signed in: the time of its token will not do', () => {
    expect(lack({ iat: NOW })).toBe('auth_time is missing')
  })

  it('may leave it out under the earlier name of the member', () => {
    const demand = demandOf(binding(), { maxAgeSeconds: 60 })
    expect(lackOf(binding(), { iat: NOW }, { ...demand, nowMs: NOW_MS })).toBeUndefined()
  })
})

describe('an attempt', () => {
  it('of a version that knew no acr_values is held to its age alone', () => {
    expect(lackOf(binding(), { acr: 'pwd', auth_time: NOW }, { maxAgeSeconds: 60, nowMs: NOW_MS })).toBeUndefined()
  })

  it('is never older than a session may idle, where its binding requires a class', () => {
    expect(demandOf(binding(['mfa']), {})).toEqual({ acrValues: [], maxAgeSeconds: 43_200, mustStateTime: true })
    expect(demandOf(binding(['mfa']), { maxAgeSeconds: 60 }).maxAgeSeconds).toBe(60)
    expect(demandOf(binding(), {})).toEqual({ acrValues: [], maxAgeSeconds: null, mustStateTime: false })
  })
})

it('a time is assumed where the token states none', () => {
  expect(authenticationOf({ auth_time: NOW - 5 }, NOW_MS)).not.toHaveProperty('isAuthTimeAssumed')
  expect(authenticationOf({ iat: NOW - 5 }, NOW_MS)).toMatchObject({
    isAuthTimeAssumed: true,
    authTimeMs: NOW_MS - 5000,
  })
})
