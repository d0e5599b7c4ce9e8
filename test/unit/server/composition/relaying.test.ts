import { expect, test } from 'vitest'
import { BootError } from '../../../../src/server/ports/boot-error.ts'
import { AUDIENCES } from '../../../../src/server/event-relay/audience.ts'
import { OUTBOX_LITERALS } from '../../../../src/server/ports/outbox-literals.ts'
import { assertAudiences } from '../../../../src/server/composition/relaying.ts'

test('every literal of the outbox has an audience, and nothing else has', () => {
  expect(() => assertAudiences()).not.toThrow()
  expect(Object.keys(AUDIENCES).toSorted()).toEqual([...OUTBOX_LITERALS].toSorted())
})

test.each(['peer_registered', 'session_revoked'] as const)(
  'boot stops where the table lacks %s, and says so',
  (literal) => {
    const { [literal]: left, ...rest } = AUDIENCES
    expect(left).toBeDefined()
    const boot = () => assertAudiences(rest)
    expect(boot).toThrow(BootError)
    expect(boot).toThrow(`the audience table does not say which nodes hear of ${literal}: add it to AUDIENCES`)
  },
)

test('the audiences are those of the decision', () => {
  const heard = Object.entries(AUDIENCES).filter(([, { to }]) => to !== 'nobody')
  expect(Object.fromEntries(heard)).toEqual({
    'bridge.PublicIngressRuleConfigured': { to: 'hosts' },
    'bridge.PublicIngressRuleRemoved': { to: 'hosts' },
    'bridge.RelayConfigured': { to: 'hosts' },
    'bridge.SiteToSiteTunnelConfigured': { to: 'hosts' },
    'bridge.SiteToSiteTunnelRemoved': { to: 'hosts' },
    'bridge.UserAccessProviderConfigured': { to: 'hosts' },
    'bridge.UserAccessProviderRemoved': { to: 'hosts' },
    execution_cancelled: { to: 'own-block', block: 'executions' },
    execution_requested: { to: 'node', type: 'action_request' },
    peer_deregistered: { to: 'peers', change: 'deregistered' },
    peer_endpoint_changed: { to: 'peers', change: 'endpoint_changed' },
    peer_key_rotated: { to: 'peers', change: 'key_rotated' },
    peer_psk_assigned: { to: 'peers', change: 'psk_assigned' },
    peer_registered: { to: 'peers', change: 'registered' },
    policy_deleted: { to: 'matched', change: 'deleted' },
    policy_revision_created: { to: 'matched', change: 'revised' },
    rotate_keys: { to: 'own-block', block: 'keys' },
    session_issued: { to: 'node', type: 'session_setup' },
    session_revoked: { to: 'own-block', block: 'sessions' },
  })
})
