import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readFirstLine } from '../../../../../src/cli/agent/sessions/first-line.ts'

const TERMS = { bytesMax: 8, timeoutMs: 10_000 }

describe('The first line of a connection', () => {
  let server: Server
  let near: Socket
  let far: Socket

  beforeEach(async () => {
    server = createServer({ allowHalfOpen: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const accepted = once(server, 'connection')
    near = connect((server.address() as AddressInfo).port, '127.0.0.1')
    ;[far] = (await accepted) as [Socket]
    for (const socket of [near, far]) socket.on('error', () => undefined)
  })
  afterEach(() => {
    near.destroy()
    far.destroy()
    server.close()
  })

  it('ends at the line feed, and what follows stays to be read', async () => {
    near.end('12345678\nrest\nof it')
    expect(await readFirstLine(far, TERMS)).toBe('12345678')
    expect(await text(far)).toBe('rest\nof it')
  })

  it('may come in pieces, with a carriage return', async () => {
    const line = readFirstLine(far, TERMS)
    for (const piece of ['12', '34', '\r\n']) {
      await new Promise((resolve) => near.write(piece, resolve))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await line).toBe('1234')
  })

  it.each(['123456789\n', '123456789', 'x'.repeat(100_000)])('is not longer than it may be: %#', async (sent) => {
    near.write(sent)
    expect(await readFirstLine(far, TERMS)).toBeUndefined()
  })

  it('is not there where the connection ends before it, or is cut', async () => {
    near.end('1234')
    expect(await readFirstLine(far, TERMS)).toBeUndefined()
    const cut = readFirstLine(near, TERMS)
    far.resetAndDestroy()
    expect(await cut).toBeUndefined()
  })

  it('is not waited for longer than it may take', async () => {
    near.write('1234')
    expect(await readFirstLine(far, { ...TERMS, timeoutMs: 20 })).toBeUndefined()
  })
})
