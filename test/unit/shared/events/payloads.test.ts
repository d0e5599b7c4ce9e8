import { describe, expect, it } from 'vitest'
import { isEvent, isResync } from '../../../../src/shared/events/payloads.ts'
import { readSigned, type ReceivedEnvelope } from '../../../../src/shared/events/signed-envelope.ts'
import { WIRE_TYPES, type Payloads, type WireType } from '../../../../src/shared/events/wire-types.ts'
import { vector, vectorKey } from '../../../support/events/event-vectors.ts'

const NODE_ID = '0197a000-0000-7000-8000-000000000001'
const KEY = vectorKey('key-1', 7)

function received(type: string, payload: unknown): ReceivedEnvelope {
  const read = readSigned(vector(KEY, { node_seq: 1, type, payload }).wire)
  if (!read.ok) throw new Error(read.fault)
  return read.signed.envelope
}

const PAYLOADS: { readonly [Type in WireType]: Payloads[Type] } = {
  node_state_updated: {
    reason: 'changed',
    blocks: ['peers', 'keys'],
    peers: [{ node_id: NODE_ID, changes: ['registered', 'endpoint_changed'], endpoint: '', groups: [1, 2] }],
    groups: [{ group: 1, added: [NODE_ID], removed: [] }],
  },
  policy_updated: { node_id: 'n', policy_id: 'p', revision_id: 'r', fingerprint: 'f', rules: [{ any: 1 }] },
  bridge_config_updated: { node_id: 'n', bridge_resource_id: 'b', effective_config: {} },
  action_request: {
    execution_id: 'e',
    action: 'ping',
    type: 'builtin',
    parameters: { count: 1 },
    status: 'pending',
    requested_at: '2026-01-01T00:00:00.000Z',
    expires_at: '2026-01-01T00:05:00.000Z',
  },
  session_setup: {
    session_id: 's',
    jti: 's',
    kind: 'ssh',
    target: 'root@web-1',
    expires_at: '2026-01-01T01:00:00.000Z',
    idle_timeout_seconds: 60,
  },
}

describe.each(WIRE_TYPES)('An event of type %s', (type) => {
  const payload = PAYLOADS[type]

  it('is recognised, with members that only a later server has', () => {
    expect(isEvent(received(type, payload), type)).toBe(true)
    expect(isEvent(received(type, { ...payload, later: { more: [] } }), type)).toBe(true)
  })

  it('is no event of another type', () => {
    for (const other of WIRE_TYPES) expect(isEvent(received(type, payload), other)).toBe(other === type)
  })

  it.each(Object.keys(payload))('is not recognised where its %s is of another kind', (member) => {
    expect(isEvent(received(type, { ...payload, [member]: true }), type)).toBe(false)
  })
})

describe('A hint', () => {
  it('says resync only where it is a hint', () => {
    const resync = { reason: 'resync', blocks: [], peers: [] }
    expect(isResync(received('node_state_updated', resync))).toBe(true)
    expect(isResync(received('node_state_updated', PAYLOADS.node_state_updated))).toBe(false)
    expect(isResync(received('tide_turned', resync))).toBe(false)
  })

  it.each([
    ['peers', [{ node_id: NODE_ID, changes: ['groups_changed'], groups: [0] }]],
    ['peers', [{ node_id: NODE_ID, changes: ['groups_changed'], groups: 1 }]],
    ['groups', {}],
    ['groups', [{ group: 0, added: [], removed: [] }]],
    ['groups', [{ group: 1.5, added: [], removed: [] }]],
    ['groups', [{ group: 1, added: ['web-1'], removed: [] }]],
    ['groups', [{ group: 1, added: [] }]],
  ])('is not recognised with malformed groups, case %#: %s', (member, value) => {
    const payload = { reason: 'changed', blocks: [], peers: [], [member]: value }
    expect(isEvent(received('node_state_updated', payload), 'node_state_updated')).toBe(false)
  })

  it('is not recognised by members that it only inherits', () => {
    expect(isEvent(received('policy_updated', { toString: 1 }), 'policy_updated')).toBe(false)
  })

  it.each([
    ['node_id', 'web-1'],
    ['psk_issued_at', '2026-01-01T00:00:00Z'],
    ['psk_issued_at', '2026-02-30T00:00:00.000000000Z'],
  ])('is not recognised where %s of a peer is "%s"', (member, text) => {
    const payload = { reason: 'changed', blocks: [], peers: [{ node_id: NODE_ID, changes: [], [member]: text }] }
    expect(isEvent(received('node_state_updated', payload), 'node_state_updated')).toBe(false)
  })

  it('may name blocks and changes that only a later server has', () => {
    const payload = { reason: 'changed', blocks: ['tides'], peers: [{ node_id: NODE_ID, changes: ['moved'] }] }
    expect(isEvent(received('node_state_updated', payload), 'node_state_updated')).toBe(true)
  })
})
