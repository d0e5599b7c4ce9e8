import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createConnectors } from '../../../../../src/server/adapters/outgoing-fetch/connect.ts'
import { OutgoingFetchError } from '../../../../../src/server/ports/outgoing-fetch.ts'

/** Addresses in the order in which it was asked about them. */
const asked = vi.hoisted((): string[] => [])

// Takes an address for public until a socket is connected to it, as one would be that something on the way redirects.
vi.mock('../../../../../src/server/adapters/outgoing-fetch/public-address.ts', () => ({
  isPublicAddress: (address: string) => asked.push(address) === 1,
}))

test('an address is looked at again on the connected socket, before a byte is written to it', async () => {
  const received: Buffer[] = []
  const server = createServer((socket) => socket.on('data', (chunk: Buffer) => received.push(chunk)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const accepted = once(server, 'connection')
  const { port } = server.address() as AddressInfo
  const { publicOnly } = createConnectors(5_000, async () => [{ address: '127.0.0.1', family: 4 }])
  const options = { hostname: 'issuer.example', host: `issuer.example:${port}`, port: String(port), protocol: 'http:' }
  const failure = await new Promise<unknown>((resolve) => {
    publicOnly(options, (error, socket) => resolve(error ?? socket))
  })
  expect(failure).toBeInstanceOf(OutgoingFetchError)
  expect(failure).toMatchObject({ reason: 'forbidden_address' })
  const [socket] = await accepted
  if (!socket.closed) await once(socket, 'close')
  expect(asked).toEqual(['127.0.0.1', '127.0.0.1'])
  expect(received).toEqual([])
})
