import { createPublicKey, verify } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalEnvelope, signedEnvelope } from '../../src/shared/events/envelope.ts'
import { readSigned } from '../../src/shared/events/signed-envelope.ts'
import { canonicalize } from '../../src/shared/canonical-json.ts'
import type { Backend } from '../../src/server/composition/backend.ts'
import { mounted } from '../../src/server/http/request-context.ts'
import { createGroups } from '../../src/server/slices/groups/service.ts'
import { check, defineSurface } from '../../src/shared/contract/operation.ts'
import { z } from 'zod'
import { createFaultyBus, type FaultyBus } from '../support/events/faulty-bus.ts'
import { STORES } from '../support/datastores/stores.ts'
import { framesOf, startStreamedFleet, type StreamedFleet } from '../support/fleet/streamed-fleet.ts'
import { secondMajor } from '../support/server/second-major.ts'
import type { RawStream } from '../support/network/raw-stream.ts'

const WAIT = { interval: 10, timeout: 20_000 }

/** An operation of v1 whose successor is in v2. */
const retiring = defineSurface('groups', 'Groups in their old form', {
  ListOldGroups: {
    method: 'GET',
    path: '/v1/old-groups',
    summary: 'List groups as before',
    credentials: ['api-token'],
    gate: check('read', 'domain:{caller.domain_id}'),
    audit: { relation: 'old_group.list', when: 'all' },
    responses: { 200: z.object({ items: z.array(z.string()) }) },
    problems: [],
    deprecated: { since: '2026-01-01T00:00:00Z', successor: 'GET /v2/domains/{id}/groups' },
  },
})

describe.each(STORES)('a server of two major versions over $name', (store) => {
  let fleet: StreamedFleet
  let bus: FaultyBus
  let backend: Backend
  let domainId: string

  beforeAll(async () => {
    bus = createFaultyBus()
    fleet = await startStreamedFleet(store, () => bus, {
      more(events, parts) {
        backend = parts
        const subjects = { mayBind: async () => false, holdsPlatformRelation: async () => false }
        const groups = createGroups({ ...parts, subjects })
        return [
          mounted(retiring, { ListOldGroups: () => ({ items: [] }) }),
          ...secondMajor({ groups, events, signer: parts.signer }),
        ]
      },
    })
    domainId = await fleet.domain()
  })
  afterAll(() => fleet.stop())

  it('lets a client of each make the same change, and shows each the changes of the other', async () => {
    const [first, second] = [
      await fleet.call(fleet.root, `POST /v1/domains/${domainId}/groups`, { slug: 'ops', display_name: 'Operators' }),
      await fleet.call(fleet.root, `POST /v2/domains/${domainId}/groups`, { handle: 'dev', label: 'Developers' }),
    ]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.body).toMatchObject({ slug: 'ops', display_name: 'Operators' })
    expect(second.body).toEqual({
      id: second.body['id'],
      domain_id: domainId,
      handle: 'dev',
      label: 'Developers',
      created_at: second.body['created_at'],
    })
    expect(second.headers.get('location')).toBe(`/v2/domains/${domainId}/groups/${String(second.body['id'])}`)
    const [listed, shown] = [
      await fleet.call(fleet.root, `GET /v1/domains/${domainId}/groups`),
      await fleet.call(fleet.root, `GET /v2/domains/${domainId}/groups`),
    ]
    expect(listed.body['items']).toMatchObject([{ slug: 'dev', display_name: 'Developers' }, { slug: 'ops' }])
    expect(shown.body['items']).toMatchObject([{ handle: 'dev' }, { handle: 'ops', label: 'Operators' }])
    expect(listed.headers.get('x-service-api-version')).toBe('current=v1, latest=v2')
    expect(shown.headers.get('x-service-api-version')).toBe('current=v2, latest=v2')
  })

  it('refuses in each the shapes of the other', async () => {
    const v1 = await fleet.call(fleet.root, `POST /v1/domains/${domainId}/groups`, { handle: 'x', label: 'X' })
    const v2 = await fleet.call(fleet.root, `POST /v2/domains/${domainId}/groups`, { slug: 'x', display_name: 'X' })
    expect([v1.body['code'], v2.body['code']]).toEqual(['invalid_body', 'invalid_body'])
    const taken = await fleet.call(fleet.root, `POST /v2/domains/${domainId}/groups`, { handle: 'ops', label: 'X' })
    expect(taken.body['code']).toBe('slug_conflict')
  })

  it('audits a change in the same way, whichever version it was made through', async () => {
    const rows = await fleet.db
      .selectFrom('audit')
      .select(['relation', 'outcome'])
      .where('relation', '=', 'group.create')
      .where('outcome', '=', 'granted')
      .execute()
    expect(rows).toEqual([
      { relation: 'group.create', outcome: 'granted' },
      { relation: 'group.create', outcome: 'granted' },
    ])
  })

  it('answers a deprecated operation of v1 whose successor is in v2 with the marks of its end', async () => {
    fleet.callers.add('user:0197a000-0000-7000-8000-00000000c001', domainId)
    const old = await fleet.call(fleet.root, 'GET /v1/old-groups')
    expect([old.status, old.headers.get('deprecation'), old.headers.get('sunset')]).toEqual([200, '@1767225600', null])
    expect((await fleet.call('nobody', 'GET /v1/old-groups')).headers.get('deprecation')).toBe('@1767225600')
    const successor = await fleet.call(fleet.root, `GET /v2/domains/${domainId}/groups`)
    expect(successor.headers.get('deprecation')).toBeNull()
  })

  it('brings an event to a stream of each, in the envelope of the version of its path', async () => {
    const node = await fleet.enrol(domainId)
    const streams: RawStream[] = []
    for (const major of ['v1', 'v2']) {
      const stream = await fleet.follow(node, { major })
      await expect.poll(stream.text, WAIT).toContain(':keep-alive\n\n')
      streams.push(stream)
    }
    const heads = streams.map((stream) => /x-service-api-version: (.*)\r\n/i.exec(stream.text())?.[1])
    expect(heads).toEqual(['current=v1, latest=v2', 'current=v2, latest=v2'])

    const { seq } = bus.add(node.node_id, await signedEvent(backend, node))
    const frames = []
    for (const stream of streams) {
      await expect.poll(() => framesOf(stream.text()).length, WAIT).toBe(1)
      frames.push(framesOf(stream.text())[0])
      stream.destroy()
    }
    const [v1, v2] = frames
    expect([v1?.id, v2?.id]).toEqual([String(seq), String(seq)])
    expect(v1?.data).toMatchObject({
      api_version: 'v1',
      node_seq: 1,
      payload: { reason: 'changed', blocks: ['policy'], peers: [] },
    })
    expect(v2?.data).toMatchObject({
      api_version: 'v2',
      node_seq: 1,
      event_id: v1?.data['event_id'],
      occurred_at: v1?.data['occurred_at'],
      payload: { is_complete: true, changed: { blocks: ['policy'], peers: [] } },
    })
    for (const frame of frames) expect(await isSigned(backend, frame?.data ?? {})).toBe(true)
    // A client of v1 that is given an envelope of another version must not take it for its own.
    expect(readSigned(canonicalize(v2?.data))).toMatchObject({ ok: false, fault: 'malformed' })
  })
})

/** A hint as the relay signs it. */
async function signedEvent({ signer, ids }: Backend, node: { node_id: string; domain_id: string }): Promise<string> {
  const canonical = canonicalEnvelope({
    domain_id: node.domain_id,
    event_id: ids.next(),
    kid: signer.keys()[0]?.kid ?? '',
    node_id: node.node_id,
    node_seq: 1n,
    occurred_at: '2026-03-01T08:00:00.000Z',
    payload: '{"blocks":["policy"],"peers":[],"reason":"changed"}',
    type: 'node_state_updated',
  })
  const { signature } = await signer.sign(Buffer.from(canonical))
  return signedEnvelope(canonical, signature.toString('base64url'))
}

/** Whether the published key verifies it. */
async function isSigned({ signer }: Backend, data: Readonly<Record<string, unknown>>): Promise<boolean> {
  const { signature, ...envelope } = data
  const key = signer.keys().find(({ kid }) => kid === envelope['kid'])
  if (key === undefined) return false
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.publicKey.toString('base64url') }
  const text = Buffer.from(canonicalize(envelope))
  return verify(null, text, createPublicKey({ key: jwk, format: 'jwk' }), Buffer.from(String(signature), 'base64url'))
}
