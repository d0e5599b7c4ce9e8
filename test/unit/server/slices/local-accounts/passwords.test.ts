import { describe, expect, it, test } from 'vitest'
import {
  createPasswordHashing,
  HashingBusy,
  SCRYPT_COST,
} from '../../../../../src/server/slices/local-accounts/password-hash.ts'
import { drawPassword, weaknessOf } from '../../../../../src/server/slices/local-accounts/password-rules.ts'
import { restMsAfter } from '../../../../../src/server/slices/local-accounts/back-off.ts'

describe('A password', () => {
  it.each([
    ['elevenchars', 'ana', 'too short'],
    ['x'.repeat(257), 'ana', 'too long'],
    ['my name is ana.', 'ana', 'holds the login'],
    ['ANA-likes-herons', 'ana', 'holds the login'],
    ['novak likes herons', 'novak@example.com', 'holds the login'],
    ['Password123!', 'ana', 'common'],
    ['administrator1', 'ana', 'common'],
    ['aaaaaaaaaaaaaa', 'ana', 'common'],
    ['abababababab', 'ana', 'common'],
    ['123412341234', 'ana', 'common'],
    ['seven grey herons', 'ana', undefined],
    ['пять серых цапель', 'ana', undefined],
  ])('%s of %s: %s', (password, login, weakness) => {
    expect(weaknessOf(password, login)).toBe(weakness)
  })

  it('that is drawn is never weak', () => {
    for (let draw = 0; draw < 100; draw += 1) expect(weaknessOf(drawPassword(), 'admin')).toBeUndefined()
  })
})

describe('Hashing', () => {
  const cheap = createPasswordHashing({ log2N: 10, r: 8, p: 1 })

  it('costs 128 MiB unless it is told otherwise', () => {
    expect(SCRYPT_COST).toEqual({ log2N: 17, r: 8, p: 1 })
  })

  it('salts: equal passwords have different hashes', async () => {
    expect(await cheap.hash('seven grey herons')).not.toBe(await cheap.hash('seven grey herons'))
  })

  it('matches by the parameters that the hash names', async () => {
    const hash = await cheap.hash('seven grey herons')
    const other = createPasswordHashing({ log2N: 11, r: 8, p: 1 })
    expect(await other.matches('seven grey herons', hash)).toBe(true)
    expect(await other.matches('seven grey heron', hash)).toBe(false)
  })

  it('takes the same letters typed in another way', async () => {
    expect(await cheap.matches('caf\u00e9 au lait chaud', await cheap.hash('cafe\u0301 au lait chaud'))).toBe(true)
  })

  it('compares with nothing where there is no hash, and says no', async () => {
    expect(await cheap.matches('seven grey herons', undefined)).toBe(false)
  })

  it('refuses what would wait too long instead of taking all memory', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => cheap.hash('seven grey herons')))
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(refused).toHaveLength(50 - 32)
    expect(refused.every(({ reason }) => reason instanceof HashingBusy)).toBe(true)
  })
})

test.each([
  [0, 0],
  [4, 0],
  [5, 30_000],
  [6, 60_000],
  [9, 480_000],
  [10, 900_000],
  [2_000, 900_000],
])('after %i failures an account rests for %i ms', (failures, restMs) => {
  expect(restMsAfter(failures)).toBe(restMs)
})
