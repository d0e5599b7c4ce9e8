import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from 'vitest'
import { guardedLookup } from '../../../../../src/server/adapters/outgoing-fetch/guarded-lookup.ts'
import { isPublicAddress } from '../../../../../src/server/adapters/outgoing-fetch/public-address.ts'

const address = (text: string): LookupAddress => ({ address: text, family: text.includes(':') ? 6 : 4 })

/** What a connection is given: the addresses, or the reason why there are none. */
function asked(answers: readonly (readonly string[])[], all: boolean) {
  let at = 0
  const lookup = guardedLookup(async () => (answers[at++] ?? []).map(address), isPublicAddress)
  return () =>
    new Promise((resolve) => {
      lookup('idp.example', { all }, (error, ...found) => resolve(error === null ? found : error.message))
    })
}

describe('the lookup of a connection', () => {
  it('hands over the public addresses of a name and leaves out the others', async () => {
    const next = asked([['10.0.0.1', '8.8.8.8', '::1', '2606:4700::1111']], true)
    expect(await next()).toEqual([[address('8.8.8.8'), address('2606:4700::1111')]])
  })

  it('hands over the first of them where one is wanted', async () => {
    expect(await asked([['127.0.0.1', '8.8.8.8']], false)()).toEqual(['8.8.8.8', 4])
  })

  it('looks at every answer, so that a name which was public before is refused now (DNS rebinding)', async () => {
    const next = asked([['8.8.8.8'], ['169.254.169.254'], []], true)
    expect([await next(), await next(), await next()]).toEqual([
      [[address('8.8.8.8')]],
      'idp.example is not at a public address',
      'idp.example is not at a public address',
    ])
  })

  it('hands on that the name does not resolve', async () => {
    const lookup = guardedLookup(() => Promise.reject(new Error('ENOTFOUND')), isPublicAddress)
    const error = await new Promise((resolve) => lookup('nowhere.example', { all: true }, resolve))
    expect(error).toMatchObject({ message: 'ENOTFOUND' })
  })
})
