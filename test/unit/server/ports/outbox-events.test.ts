import { describe, expect, expectTypeOf, test } from 'vitest'
import { OUTBOX_EVENTS } from '../../../../src/server/composition/outbox-events.ts'
import type { OutboxEvent, OutboxEvents, OutboxPayload } from '../../../../src/server/ports/outbox-events.ts'
import type { Change } from '../../../../src/server/ports/unit-of-work.ts'

test('the audiences are those of the decision', () => {
  const rows = Object.entries(OUTBOX_EVENTS).map(([literal, { audience }]) => [literal, audience] as const)
  expect(Object.fromEntries(rows.filter(([, { to }]) => to !== 'nobody'))).toEqual({
    'bridge.PublicIngressRuleConfigured': { to: 'hosts' },
    'bridge.PublicIngressRuleRemoved': { to: 'hosts' },
    'bridge.RelayConfigured': { to: 'hosts' },
    'bridge.SiteToSiteTunnelConfigured': { to: 'hosts' },
    'bridge.SiteToSiteTunnelRemoved': { to: 'hosts' },
    'bridge.UserAccessProviderConfigured': { to: 'hosts' },
    'bridge.UserAccessProviderRemoved': { to: 'hosts' },
    SecretVersionCreated: { to: 'secret-hosts' },
    domain_relays_changed: { to: 'domain' },
    domain_subnets_changed: { to: 'domain' },
    execution_cancelled: { to: 'own-block', block: 'executions' },
    execution_requested: { to: 'node', type: 'action_request' },
    node_policies_changed: { to: 'own-block', block: 'policy' },
    node_renamed: { to: 'own-block', block: 'self' },
    peer_deregistered: { to: 'peers', change: 'deregistered' },
    peer_endpoint_changed: { to: 'peers', change: 'endpoint_changed' },
    peer_groups_changed: { to: 'peers', change: 'groups_changed' },
    peer_key_rotated: { to: 'peers', change: 'key_rotated' },
    peer_psk_assigned: { to: 'peers', change: 'psk_assigned' },
    peer_registered: { to: 'peers', change: 'registered' },
    peer_relay_changed: { to: 'peers', change: 'endpoint_changed' },
    peer_subnets_changed: { to: 'peers', change: 'subnets_changed' },
    peer_renamed: { to: 'peers', change: 'renamed' },
    peer_visibility_changed: { to: 'viewers' },
    policy_deleted: { to: 'matched' },
    policy_group_changed: { to: 'group' },
    policy_revision_created: { to: 'matched' },
    rotate_keys: { to: 'own-block', block: 'keys' },
    session_issued: { to: 'node', type: 'session_setup' },
    session_revoked: { to: 'own-block', block: 'sessions' },
  })
})

describe('an event that a change emits', () => {
  const place = { domainId: null, aggregate: 'project:1' }
  type Emitted = Parameters<Change['emit']>[0]

  test('has the payload of its literal', () => {
    expectTypeOf({
      ...place,
      event: 'ProjectCreated' as const,
      payload: { project_id: '1', slug: 'a' },
    }).toExtend<Emitted>()
    expectTypeOf({
      ...place,
      event: 'ProjectCreated' as const,
      payload: { group_id: '1', slug: 'a' },
    }).not.toExtend<Emitted>()
    expectTypeOf({
      ...place,
      event: 'ProjectCreated' as const,
      payload: { project_id: 1, slug: 'a' },
    }).not.toExtend<Emitted>()
    expectTypeOf<OutboxPayload<'session_revoked'>>().toEqualTypeOf<{
      readonly node_id: string
      readonly session_id: string
    }>()
  })

  test('of one of several literals has a payload that fits each of them', () => {
    type Either = { domainId: null; aggregate: string; event: 'GroupCreated' | 'GroupMemberAdded' }
    expectTypeOf<Either & { payload: { group_id: string; slug: string; subject: string } }>().toExtend<Emitted>()
    expectTypeOf<Either & { payload: { group_id: string; slug: string } }>().not.toExtend<Emitted>()
  })

  test('has a literal of the table', () => {
    expectTypeOf({ ...place, event: 'ProjectRenamed' as const, payload: {} }).not.toExtend<Emitted>()
    expectTypeOf<OutboxEvent['event']>().toEqualTypeOf<keyof OutboxEvents>()
  })
})
