import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest'
import { answeredValue, createClient, requestOf, type Attempt, type Client } from '../../../src/client/client.ts'
import { createTransport, type Transport } from '../../../src/client/transport.ts'
import type { contract } from '../../../src/shared/contract/index.ts'
import { manifest } from '../../support/cli/cli-run.ts'
import { refused, startStub, STUB_CORRELATION_ID, type StubServer } from '../../support/cli/stub-server.ts'

const ID = '019c1a10-0000-7000-8000-000000000001'
const NODE = { id: ID, display_name: 'web-1' }
const BODY = { subject: 'user:a', relation: 'read', resource: 'node:b' }

describe('The client', () => {
  let stub: StubServer
  let transport: Transport
  let client: Client<typeof contract>
  const attempts: Attempt[] = []

  beforeEach(async () => {
    attempts.length = 0
    stub = await startStub({
      [`GET /v1/nodes/${ID}`]: { body: NODE },
      'GET /v1/nodes': { body: { items: [], next_cursor: null } },
      'POST /v1/authz/check': [{ hangUp: true }, { body: { decision: 'allowed', correlation_id: 'c' } }],
      [`DELETE /v1/nodes/${ID}`]: { status: 204 },
      [`PATCH /v1/nodes/${ID}`]: [{ hangUp: true }, { body: NODE }],
      'GET /v1/domains': refused(418, 'teapot_engaged', 'A code that this client has never heard of.'),
      'GET /v1/auth/whoami': { status: 502, body: '<html>Bad gateway</html>' },
      'GET /v1/auth/sessions': { status: 207, body: [] },
      'GET /v1/auth/tokens': { headers: { 'content-type': 'application/json' }, body: '{"cut' },
    })
    transport = createTransport({ url: stub.url })
    client = createClient<typeof contract>({
      manifest,
      transport,
      token: () => 'psk_test',
      triesMax: 2,
      observe: (attempt) => attempts.push(attempt),
      clock: { nowMs: () => 0, random: () => 0, sleep: async () => undefined },
    })
  })
  afterEach(async () => {
    transport.close()
    await stub.close()
  })

  it('has one typed method for each operation of the contract except streaming ones', () => {
    const called = Object.keys(manifest.operations).filter((id) => !['GetNodeEvents', 'GetDomainEvents'].includes(id))
    expect(Object.keys(client).toSorted()).toEqual(called.toSorted())
    expectTypeOf(client).not.toHaveProperty('GetNodeEvents')
    expectTypeOf(client.PostAuthzCheck).parameter(0).toExtend<{ readonly body: { readonly subject: string } }>()
    expectTypeOf<Awaited<ReturnType<typeof client.PostAuthzCheck>>['decision']>().toEqualTypeOf<'allowed' | 'denied'>()
    expectTypeOf<Awaited<ReturnType<typeof client.DeleteNode>>>().toEqualTypeOf<void>()
  })

  it('reads an operation when its method is called, and no other one', async () => {
    const read: string[] = []
    const get = (all: typeof manifest.operations, id: string) => {
      read.push(id)
      return all[id]
    }
    const operations = new Proxy(manifest.operations, { get })
    const reading = createClient<typeof contract>({ manifest: { ...manifest, operations }, transport })
    expect(read).toEqual([])
    await reading.GetNode({ id: ID })
    expect(read).toEqual(['GetNode'])
  })

  it('puts members into path, query and body as the operation declares', async () => {
    await client.ListNodes({ name: 'web-1', limit: '7' })
    await client.GetNode({ id: ID })
    expect(stub.seen.map(({ method, path, query }) => [method, path, query.toString()])).toEqual([
      ['GET', '/v1/nodes', 'name=web-1&limit=7'],
      ['GET', `/v1/nodes/${ID}`, ''],
    ])
  })

  it('sends its credential, or that of the call, or none', async () => {
    await client.GetNode({ id: ID })
    await client.GetNode({ id: ID }, { token: 'nsk_other' })
    await client.GetNode({ id: ID }, { token: null })
    expect(stub.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer psk_test',
      'Bearer nsk_other',
      undefined,
    ])
  })

  it('sends a valid correlation id, or that of the call', async () => {
    await client.GetNode({ id: ID })
    await client.GetNode({ id: ID }, { correlationId: 'mine' })
    const [minted, given] = stub.seen.map(({ headers }) => headers['x-correlation-id'])
    expect(minted).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(given).toBe('mine')
  })

  it('answers undefined for an empty body', async () => {
    expect(await client.DeleteNode({ id: ID })).toBeUndefined()
  })

  it('repeats operations that the contract declares idempotent, with one correlation id', async () => {
    expect((await client.PostAuthzCheck({ body: BODY })).decision).toBe('allowed')
    expect(stub.seen.length).toBe(2)
    expect(new Set(stub.seen.map(({ headers }) => headers['x-correlation-id'])).size).toBe(1)
    expect(attempts.map(({ answer }) => answer?.status)).toEqual([undefined, 200])
  })

  it('never repeats a PATCH', async () => {
    await expect(client.PatchNode({ id: ID, body: { name: 'x' } })).rejects.toMatchObject({ fault: 'broken' })
    expect(stub.seen.length).toBe(1)
  })

  it('throws a refusal with an unknown code unchanged', async () => {
    await expect(client.ListDomains()).rejects.toMatchObject({
      name: 'ProblemAnswer',
      code: 'teapot_engaged',
      status: 418,
      message: 'A code that this client has never heard of.',
      correlationId: STUB_CORRELATION_ID,
    })
  })

  it('makes a refusal of an error answer without a problem document', async () => {
    await expect(client.GetAuthWhoami()).rejects.toMatchObject({ code: 'unexpected_answer', status: 502 })
  })

  it('fails on truncated JSON', async () => {
    await expect(client.GetAuthTokens()).rejects.toMatchObject({ fault: 'unreadable' })
  })

  it('distinguishes an unknown success status from the answer of another server', async () => {
    await expect(client.GetAuthSessions()).rejects.toMatchObject({
      fault: 'unknown_status',
      message: 'it answered GetAuthSessions with HTTP 207, which this ctl does not know',
    })
    const answer = { status: 207, headers: {}, body: Buffer.from('[]') }
    const { GetAuthSessions: operation } = manifest.operations
    expect(() => operation && answeredValue(operation, answer)).toThrow(
      expect.objectContaining({ fault: 'unreadable' }),
    )
  })

  it('fails before it sends when a path member is missing', async () => {
    await expect(client.GetNode({ id: '' })).rejects.toThrow('GetNode needs id')
    expect(stub.seen).toEqual([])
  })
})

describe('A request', () => {
  it.each([
    [
      'group members',
      'PutGroupMember',
      { id: ID, group_id: ID, subject: 'group:a/b#member' },
      `/v1/domains/${ID}/groups/${ID}/members/group%3Aa%2Fb%23member`,
    ],
    [
      'a query with an ampersand',
      'GetAudit',
      { domain_id: ID, subject: 'user:a&b' },
      `/v1/audit?domain_id=${ID}&subject=user%3Aa%26b`,
    ],
  ])('escapes %s', (_, id, input, path) => {
    const operation = manifest.operations[id]
    if (!operation) throw new Error(`no ${id}`)
    expect(requestOf(operation, input).path).toBe(path)
  })
})
