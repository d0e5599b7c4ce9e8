import { afterEach, expect, test } from 'vitest'
import { createCaller } from '../../../../../src/client/client.ts'
import { createTransport } from '../../../../../src/client/transport.ts'
import { createNodeWire } from '../../../../../src/client/agent/calls/node-wire.ts'
import { manifest } from '../../../../support/cli/cli-run.ts'
import { refused, startStub, type StubRoutes } from '../../../../support/cli/stub-server.ts'

const NODE = '0197a000-0000-7000-8000-00000000a001'
const PEER = '0197a000-0000-7000-8000-00000000a002'
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function wireTo(routes: StubRoutes) {
  const stub = await startStub(routes)
  const transport = createTransport({ url: stub.url })
  closing.push(
    () => transport.close(),
    () => stub.close(),
  )
  return { stub, wire: createNodeWire(createCaller({ manifest, transport, triesMax: 1 }), manifest) }
}

test('A pull sends the key and the ETag of the node, and returns the bytes unchanged', async () => {
  const { wire, stub } = await wireTo({
    [`GET /v1/nodes/${NODE}/state`]: [
      { body: '{"peers" : []}', headers: { etag: '"one"' } },
      { status: 304, headers: { etag: '"one"' } },
      { body: '{}', headers: { etag: '"one"', 'x-service-degraded': 'datastore; since=2026-01-01T00:00:00Z' } },
    ],
  })
  const call = { nodeId: NODE, nsk: 'nsk_n', etag: undefined }
  const first = await wire.pull(call)
  expect([first?.bytes.toString(), first?.etag, first?.isDegraded]).toEqual(['{"peers" : []}', '"one"', false])
  expect(await wire.pull({ ...call, etag: '"one"' })).toBeUndefined()
  expect(await wire.pull(call)).toMatchObject({ isDegraded: true })
  expect(stub.seen.map(({ headers }) => [headers.authorization, headers['if-none-match']])).toEqual([
    ['Bearer nsk_n', undefined],
    ['Bearer nsk_n', '"one"'],
    ['Bearer nsk_n', undefined],
  ])
})

test('A sealed key comes with the headers of the answer and with the key of the call', async () => {
  const headers = {
    'content-type': 'application/octet-stream',
    'x-service-psk-kid': 'kid00001',
    'x-service-psk-epoch': 'a|b',
  }
  const { wire } = await wireTo({ [`GET /v1/nodes/${NODE}/peers/${PEER}/psk`]: { body: 'sealed', headers } })
  expect(await wire.fetchEdgeKey({ nodeId: NODE, peerId: PEER, nsk: 'nsk_n' })).toEqual({
    envelope: new Uint8Array(Buffer.from('sealed')),
    kid: 'kid00001',
    epoch: 'a|b',
    nsk: 'nsk_n',
  })
})

test('A refusal is thrown as the problem of the server', async () => {
  const { wire } = await wireTo({
    [`GET /v1/nodes/${NODE}/peers/${PEER}/psk`]: refused(404, 'peer_not_found', 'There is no such peer.'),
  })
  await expect(wire.fetchEdgeKey({ nodeId: NODE, peerId: PEER, nsk: 'nsk_n' })).rejects.toMatchObject({
    code: 'peer_not_found',
  })
})

test('Several sealed keys come in one answer, and those that were not asked for are left out', async () => {
  const other = '0197a000-0000-7000-8000-00000000a003'
  const sealed = Buffer.from('sealed').toString('base64')
  const envelopes = [
    { peer_node_id: other, epoch: 'a|c', envelope: sealed },
    { peer_node_id: NODE, epoch: 'a|a', envelope: sealed },
    { peer_node_id: PEER, epoch: 7, envelope: null },
  ]
  const { wire, stub } = await wireTo({
    [`POST /v1/nodes/${NODE}/peers/psk`]: {
      body: JSON.stringify({ kid: 'kid00001', envelopes }),
      headers: { 'content-type': 'application/json', 'x-service-api-version': 'v1' },
    },
  })
  const held = { kid: 'kid00001', nsk: 'nsk_n' }
  expect(await wire.fetchEdgeKeys({ nodeId: NODE, peerIds: [other, PEER], nsk: 'nsk_n' })).toEqual([
    { peerId: other, envelope: new Uint8Array(Buffer.from('sealed')), epoch: 'a|c', ...held },
    { peerId: PEER, envelope: new Uint8Array(), epoch: '', ...held },
  ])
  expect(stub.seen.map(({ headers, body }) => [headers.authorization, body])).toEqual([
    ['Bearer nsk_n', { peer_node_ids: [other, PEER] }],
  ])
})
