import { describe, expect, it } from 'vitest'
import { endpointText, remoteFrom, targetFrom } from '../../../../../src/cli/commands/bridge/endpoint-text.ts'
import { asApiParts, configurationOf } from '../../../../../src/cli/commands/bridge/members.ts'
import { PART_KINDS } from '../../../../../src/cli/commands/bridge/part-kinds.ts'
import { secretFrom } from '../../../../../src/cli/commands/bridge/secret-text.ts'
import type { ProjectPlace } from '../../../../../src/cli/commands/bridge/place.ts'
import type { Session } from '../../../../../src/cli/session/session.ts'
import { bridgeWay } from '../../../../../src/cli/errors/bridge-hints.ts'
import { isSettled, stateOf, syncText } from '../../../../../src/cli/commands/bridge/host-state.ts'
import type { BridgeStatus, HostStatus } from '../../../../../src/cli/commands/bridge/answers.ts'

describe('The other end of a tunnel', () => {
  it.each([
    ['vpn.example.org:51820', 'vpn.example.org', 51_820],
    ['203.0.113.7:4500', '203.0.113.7', 4500],
    ['[2001:db8::1]:51820', '2001:db8::1', 51_820],
    ['vpn.example.org:0', 'vpn.example.org', 0],
    ['vpn.example.org:65536', 'vpn.example.org', 65_536],
  ])('%s is a host and a port, whose range the server judges', (text, host, port) => {
    expect(remoteFrom(text)).toEqual({ host, port })
    expect(endpointText(host, port)).toBe(text)
  })

  it.each(['vpn.example.org', '2001:db8::1:51820', '[2001:db8::1]', 'vpn.example.org:http', ':51820', 'a b:1', ''])(
    '"%s" is refused',
    (text) => {
      expect(() => remoteFrom(text)).toThrow(`--remote needs HOST:PORT, not "${text}"`)
    },
  )

  it('of an ingress rule is a node and a port', () => {
    expect(targetFrom('web-1:8080')).toEqual({ host: 'web-1', port: 8080 })
    expect(() => targetFrom('web-1')).toThrow('--target needs NODE:PORT, not "web-1"')
  })
})

describe('A secret', () => {
  it.each([
    ['secret:acme/edge/hq-key', { ref: 'secret:acme/edge/hq-key' }],
    ['secret:acme/edge/hq-key:3', { ref: 'secret:acme/edge/hq-key:3' }],
    ['hq-key', { name: 'hq-key' }],
    ['hq-key:3', { name: 'hq-key:3' }],
    ['secret:hq-key', { name: 'hq-key' }],
  ])('%s is read', (text, read) => {
    expect(secretFrom(text, '--secret')).toEqual(read)
  })

  it.each(['HQ', 'hq_key', 'edge/hq-key', 'secret:a/b/c/d', 'hq-key:0', 'hq-key:', '-hq', ''])(
    '"%s" is refused',
    (text) => {
      expect(() => secretFrom(text, '--secret')).toThrow(`--secret cannot be read: "${text}"`)
    },
  )
})

describe('The flags of a part', () => {
  it('give the members of the API', () => {
    expect(PART_KINDS.ingress.read({ target: 'web-1:80', 'no-acme': true })).toEqual({
      target_node_id: 'web-1',
      target_port: 80,
      acme_account_ref: null,
    })
    expect(PART_KINDS['site-to-site'].read({ remote: '[::1]:5', secret: 'hq:2' })).toEqual({
      remote_host: '::1',
      remote_port: 5,
      auth_secret_ref: 'hq:2',
    })
    expect(PART_KINDS['user-access'].read({})).toEqual({})
  })

  it('exclude each other where they contradict', () => {
    expect(() => PART_KINDS.ingress.read({ acme: 'https://a.example.org', 'no-acme': true })).toThrow(
      '--acme and --no-acme exclude each other',
    )
    expect(() => PART_KINDS.ingress.read({ acme: 'secret:NO' })).toThrow('--acme cannot be read')
  })
})

describe('Parts in a file', () => {
  it('lose what the server adds, and an update the slug too', () => {
    const shown = { resource_id: 'r', slug: 'hq', kind: 'ipsec', created_at: 'c', updated_at: 'u' }
    expect(configurationOf(shown)).toEqual({ kind: 'ipsec' })
  })

  it('keep ids, references and other values as they are', async () => {
    const node = '019c1a10-0000-7000-8000-000000110001'
    const parts = {
      relay: { enabled: true, listen_port: 1 },
      ingress: [{ slug: 'a', target_node_id: node, acme_account_ref: 'https://a.example.org', updated_at: 'u' }],
      site_to_site: [{ slug: 'b', auth_secret_ref: 'secret:a/b/c' }, 'no part'],
    }
    // Nothing of these is looked up.
    const [session, place] = [{}, {}] as unknown as [Session, ProjectPlace]
    expect(await asApiParts(session, parts, place)).toEqual({
      ...parts,
      ingress: [{ slug: 'a', target_node_id: node, acme_account_ref: 'https://a.example.org' }],
    })
  })
})

describe('The state of a host', () => {
  const HOST: HostStatus = {
    node_id: '019c1a10-0000-7000-8000-000000110001',
    name: 'web-1',
    in_sync: false,
    fingerprint: 'a',
    applied_at: null,
    secrets: { 'secret:d/p/key': 2 },
    error: null,
    reported_at: '2026-02-01T11:58:00.000Z',
  }
  const status = (hosts: readonly HostStatus[], fingerprint: string | null = 'a'): BridgeStatus => ({
    resource_id: HOST.node_id,
    fingerprint,
    updated_at: null,
    secrets: { 'secret:d/p/key': 2 },
    hosts: [...hosts],
  })

  it.each([
    [{ in_sync: true }, 'in sync'],
    [{ error: 'no such device', fingerprint: 'b' }, 'failed'],
    [{ error: 'a secret is missing', fingerprint: null, reported_at: null }, 'nothing reported yet'],
    [{ fingerprint: null }, 'nothing applied yet'],
    [{ fingerprint: 'b' }, 'another configuration'],
    [{ secrets: { 'secret:d/p/key': 1 } }, 'secret key at 1, not 2'],
    [{ secrets: {} }, 'secret key at none, not 2'],
    [{}, 'not in sync'],
  ])('of %j is said in a few words', (more, words) => {
    expect(stateOf({ ...HOST, ...more }, status([]))).toBe(words)
  })

  it('is settled when each host is in sync, and never while no host has a configuration that is wanted', () => {
    const good = { ...HOST, in_sync: true }
    const statuses = [status([good]), status([good, HOST]), status([]), status([], null)]
    expect(statuses.map(isSettled)).toEqual([true, false, false, true])
    expect(statuses.slice(0, 2).map(syncText)).toEqual(['1 of 1 host is in sync', '1 of 2 hosts are in sync'])
  })
})

describe('The way out of a conflict', () => {
  it.each([
    [
      { code: 'bridge_port_conflict', port: 443, conflicts_with: 'user-access/staff' },
      'Port 443 belongs to user access staff. Choose another port, or change that part first: ctl bridge user-access show staff',
    ],
    [{ code: 'interface_name_conflict' }, 'The interface belongs to another part. Choose another name.'],
    [
      { code: 'target_node_not_in_domain', part: 'ingress/shop' },
      'Choose a node of the Domain: ctl nodes list. Then: ctl bridge ingress update shop --target NODE:PORT',
    ],
  ])('%j', (refusal, way) => {
    expect(bridgeWay(refusal)).toBe(way)
  })

  it('is not made up for a code that is not known', () => {
    expect(bridgeWay({ code: 'something_new' })).toBeUndefined()
  })
})
