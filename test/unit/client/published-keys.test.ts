import { beforeEach, describe, expect, it } from 'vitest'
import { TransportFailure } from '../../../src/client/failures.ts'
import { createPublishedKeys } from '../../../src/client/published-keys.ts'
import type { FindKey } from '../../../src/shared/events/verifier.ts'
import { manifest } from '../../support/cli/cli-run.ts'
import { vectorKey } from '../../support/events/event-vectors.ts'

const [ONE, TWO] = [vectorKey('one', 1).jwk, vectorKey('two', 2).jwk]

describe('The list of published keys', () => {
  let nowMs: number
  let published: unknown
  let headers: Record<string, string>
  let calls: { id: string; token: unknown }[]
  let find: FindKey
  beforeEach(() => {
    nowMs = 0
    published = { keys: [ONE] }
    headers = { 'cache-control': 'public, max-age=120' }
    calls = []
    find = createPublishedKeys({
      manifest,
      clock: { nowMs: () => nowMs },
      caller: {
        async call({ id }, _input, options) {
          calls.push({ id, token: options?.token })
          if (published instanceof Error) throw published
          return { status: 200, headers, value: published }
        },
      },
    })
  })

  it('is fetched once for concurrent readers, without a credential', async () => {
    const found = await Promise.all([find('one'), find('one'), find('two')])
    expect(found.map((key) => key?.kid)).toEqual(['one', 'one', undefined])
    expect(calls).toEqual([{ id: 'GetSigningKeys', token: null }])
  })

  it('is cached as long as the server allows, by default for five minutes', async () => {
    await find('one')
    nowMs = 119_999
    await find('one')
    expect(calls).toHaveLength(1)
    nowMs = 120_000
    headers = {}
    await find('one')
    nowMs = 419_999
    await find('one')
    expect(calls).toHaveLength(2)
    nowMs = 420_000
    await find('one')
    expect(calls).toHaveLength(3)
  })

  it('is fetched again for an unknown key id, at most every five seconds', async () => {
    await find('one')
    published = { keys: [ONE, TWO] }
    nowMs = 4999
    expect(await find('two')).toBeUndefined()
    nowMs = 5000
    expect((await find('two'))?.kid).toBe('two')
    expect(calls).toHaveLength(2)
  })

  it('loses the keys that the server removed', async () => {
    await find('one')
    published = { keys: [TWO] }
    nowMs = 120_000
    expect(await find('one')).toBeUndefined()
  })

  it('throws the failure of a fetch, and is fetched again', async () => {
    published = new TransportFailure('unreachable', 'no connection')
    await expect(find('one')).rejects.toThrow('no connection')
    published = { keys: [] }
    await expect(find('one')).rejects.toMatchObject({ fault: 'unreadable' })
    published = { keys: [ONE] }
    expect((await find('one'))?.kid).toBe('one')
  })
})
