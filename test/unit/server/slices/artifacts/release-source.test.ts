import { describe, expect, it } from 'vitest'
import { OutgoingFetchError, type OutgoingRequest } from '../../../../../src/server/ports/outgoing-fetch.ts'
import { openSource } from '../../../../../src/server/slices/artifacts/release-source.ts'

const PLACE = { kind: 'https', url: 'https://dl.example/agent/' } as const

function sourceOver(status: number, allowed: readonly string[] = []) {
  const asked: { url: string; request: OutgoingRequest }[] = []
  const source = openSource(PLACE, {
    releasesAllowHosts: allowed,
    async releasesFetch(url, request) {
      asked.push({ url, request })
      if (status === 0) throw new OutgoingFetchError('timeout', 'dl.example gave no answer within 30000 ms')
      return { status, headers: { etag: '"2"' }, body: Buffer.from('content') }
    },
  })
  const read = (unlessEtag?: string) =>
    source.read('a/b.json', { bytesMax: 10, unlessEtag, signal: new AbortController().signal })
  return { read, asked }
}

describe('A source of releases by https', () => {
  it('is asked below its address, for public addresses alone, within the limit, with what is known', async () => {
    const { read, asked } = sourceOver(200)
    expect(await read('"1"')).toEqual({ bytes: Buffer.from('content'), etag: '"2"' })
    expect(asked).toMatchObject([
      {
        url: 'https://dl.example/agent/a/b.json',
        request: {
          headers: { 'if-none-match': '"1"' },
          allowPrivateNetwork: false,
          bodyBytesMax: 10,
          redirect: 'returned',
        },
      },
    ])
  })

  it('may be in a private network where its host is named', async () => {
    const { read, asked } = sourceOver(200, ['dl.example:443'])
    await read()
    expect(asked[0]?.request.allowPrivateNetwork).toBe(true)
  })

  it.each([
    [304, undefined],
    [404, null],
    [410, null],
  ])('answers %d, which is no failure', async (status, expected) => {
    expect(await sourceOver(status).read('"1"')).toBe(expected)
  })

  it.each([
    [302, 'a/b.json is answered with status 302'],
    [503, 'a/b.json is answered with status 503'],
    [0, 'a/b.json cannot be fetched: dl.example gave no answer within 30000 ms'],
  ])('answers %d, which is a failure in one clause', async (status, message) => {
    await expect(sourceOver(status).read()).rejects.toMatchObject({ name: 'SourceFault', message })
  })
})
