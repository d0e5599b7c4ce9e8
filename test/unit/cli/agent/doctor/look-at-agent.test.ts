import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PeerRow } from '../../../../../src/cli/agent/control/agent-status.ts'
import type { RunningFacts } from '../../../../../src/cli/agent/doctor/doctor-facts.ts'
import { lookAtAgent } from '../../../../../src/cli/agent/doctor/look-at-agent.ts'
import { lookAtConflicts } from '../../../../../src/cli/agent/doctor/look-at-conflicts.ts'
import { lookAtFirewall } from '../../../../../src/cli/agent/doctor/look-at-firewall.ts'
import { lookAtNames } from '../../../../../src/cli/agent/doctor/look-at-names.ts'
import { MARKER_PREFIX } from '../../../../../src/cli/agent/firewall/table-target.ts'
import { placeOf } from '../../../../../src/cli/agent/place.ts'
import { writeKnownMesh } from '../../../../../src/cli/agent/state/known-mesh.ts'
import { withBlock } from '../../../../../src/cli/agent/names/hosts-block.ts'
import type { Finding } from '../../../../../src/cli/commands/doctor/finding.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'

const HOSTS = '127.0.0.1 localhost\n'

describe('the doctor on a running agent', () => {
  let folder: string
  let hostsFile: string
  /** What `ip -j` prints, by its other arguments. */
  let printed: Record<string, unknown>

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-doctor-'))
    hostsFile = join(folder, 'hosts')
    writeFileSync(hostsFile, HOSTS)
    printed = {}
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function facts(status: Partial<RunningFacts['status']> = {}, peers: readonly PeerRow[] = []): RunningFacts {
    return {
      place: placeOf(folder),
      state: enrolledState(),
      userAgent: 'ctl/test',
      system: {
        run: async (_, [, ...args]) => ({
          stdout: JSON.stringify(printed[args.join(' ')] ?? { nftables: [] }),
          stderr: '',
          exitCode: 0,
        }),
        path: '',
        tun: '',
        hostsFile,
        modulesFolder: '',
        modulesList: '',
        nowMs: Date.now,
      },
      status: {
        state: 'running',
        pid: 4711,
        version: '1.0.0',
        started_at: '2026-02-01T12:00:00.000Z',
        node_id: enrolledState().enrolment.node_id,
        name: 'web-1',
        mesh_address: '100.64.0.1',
        mesh_cidr: '100.64.0.0/10',
        ingress: { listen: ':443', rules: [] },
        server: {
          url: 'http://127.0.0.1:7443',
          reachable: true,
          since: '2026-02-01T12:00:00.000Z',
          is_streaming: true,
          clock_skew_ms: 0,
        },
        interface: { name: 'ctl0', kind: 'kernel', listen_port: 51_820, public_key: null },
        names: { way: 'hosts-file', listen: null, fault: null },
        peers: { known: 0, direct: 0, relayed: 0, refused: 0 },
        policies: { count: 0, rules: [], fault: null },
        sessions: { listen: null, open: 0, connections: 0, fault: null },
        faults: [],
        counts: {},
        ...status,
      },
      peers,
    }
  }

  const peer = (name: string, more: Partial<PeerRow> = {}): PeerRow => ({
    node_id: `id of ${name}`,
    name,
    mesh_address: '100.64.0.2',
    endpoint: null,
    path: 'direct',
    relay: null,
    has_key: true,
    latest_handshake_at: null,
    received_bytes: 0,
    sent_bytes: 0,
    ...more,
  })
  const found = (findings: readonly Finding[]): Readonly<Record<string, string>> =>
    Object.fromEntries(findings.map(({ check, status, detail }) => [check, `${status}: ${detail}`]))

  test('finds nothing where everything works', () => {
    expect(lookAtAgent(facts({}, [peer('web-2')])).map(({ status }) => status)).toEqual(Array(4).fill('ok'))
  })

  test('finds a closed stream, and blames the server where that is away', () => {
    const { server } = facts().status
    expect(found(lookAtAgent(facts({ server: { ...server, is_streaming: false } })))['events']).toBe(
      'problem: the event stream is closed: changes arrive late',
    )
    const away = { ...server, is_streaming: false, reachable: false }
    expect(found(lookAtAgent(facts({ server: away })))['events']).toMatch(/^skipped: .* since the server is away$/)
  })

  test('finds policies that are not enforced, and does not repeat that as a fault of the agent', async () => {
    const fault = 'nft is not installed.'
    const broken = facts({ policies: { count: 1, rules: [], fault }, faults: [fault, 'the disk is full'] })
    expect(found([...lookAtAgent(broken), await lookAtFirewall(broken)])).toMatchObject({
      agent: 'warning: runs as process 4711, with a fault: the disk is full',
      firewall: 'problem: policies are not enforced: nft is not installed.',
    })
  })

  test('looks for the table of policies in the kernel, where one isolates the node', async () => {
    const { node_id: nodeId } = enrolledState().enrolment
    const seen = async () => (await lookAtFirewall(facts({ policies: { count: 1, rules: [], fault: null } }))).detail
    expect(await seen()).toBe('no policy isolates this node: nothing is dropped')
    const entries = [{ action: 'isolate' as const, direction: 'ingress' as const }]
    const policy = { policyId: 'p', revisionId: 'r', fingerprint: 'f', unknown: 0, entries }
    await writeKnownMesh(placeOf(folder).mesh, nodeId, { peers: [], policies: [policy] })
    expect(await seen()).toBe('the table inet ctl_ctl0 of nftables is not there, so that policies are not enforced')
    const marker = { counter: { name: `${MARKER_PREFIX}x`, packets: 0, bytes: 0 } }
    printed = { '-t list table inet ctl_ctl0': { nftables: [marker] } }
    expect(await seen()).toBe('the policies are in force: table inet ctl_ctl0')
  })

  test('names peers without a session and without a key, and counts the others', () => {
    const silent = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => peer(name, { path: 'none', has_key: false }))
    expect(found(lookAtAgent(facts({}, [peer('web-2'), ...silent])))).toMatchObject({
      peers: 'warning: no session with 7 of 8: a, b, c, d, e and 2 more',
      keys: 'warning: the key of the edge is missing for a, b, c, d, e and 2 more',
    })
  })

  test('finds a hosts file that lacks the names, has old ones, or has a broken block', async () => {
    expect(found(await lookAtNames(facts()))['hosts']).toBe(`problem: ${hostsFile} has no names of the mesh`)
    writeFileSync(hostsFile, withBlock(HOSTS, 'ctl0', [{ name: 'web-1', address: '100.64.0.1' }]))
    expect(found(await lookAtNames(facts()))['hosts']).toBe(`ok: ${hostsFile} has the names`)
    const resolved = facts({ names: { way: 'systemd-resolved', listen: null, fault: null } })
    expect(found(await lookAtNames(resolved))['hosts']).toMatch(/^warning: .* that an earlier run wrote$/)
    writeFileSync(hostsFile, `${HOSTS}# END names of the mesh on ctl0\n`)
    expect(found(await lookAtNames(facts()))['hosts']).toMatch(/^problem: The block of mesh names .* is broken/)
  })

  test('skips names that the agent was started without', async () => {
    const none = facts({ names: { way: 'none', listen: null, fault: null } })
    expect(found(await lookAtNames(none))).toEqual({ names: 'skipped: the agent was started without them' })
  })

  test('finds a resolver that does not answer', async () => {
    // Nothing listens on that port.
    const seen = await lookAtNames(facts({ names: { way: 'resolver-only', listen: '127.0.0.1:9', fault: null } }))
    expect(found(seen)['resolver']).toMatch(/^problem: 127\.0\.0\.1:9 does not answer web-1\.mesh: /)
  })

  test('finds Tailscale, another agent, and a mesh that covers the uplink', async () => {
    const address = (ifname: string, local: string, more = {}) => ({
      ifname,
      addr_info: [{ local, scope: 'global' }],
      ...more,
    })
    printed = {
      '-d address show': [
        address('ctl0', '100.64.0.1', { ifalias: `ctl ${enrolledState().enrolment.node_id}` }),
        address('tailscale0', '100.100.1.1'),
        address('ctl1', '10.7.0.1', { ifalias: 'ctl another-node' }),
      ],
      '-4 route show default': [{ dst: 'default', gateway: '100.64.7.1', dev: 'eth0' }],
      'address show': [address('eth0', '100.64.7.9')],
    }
    expect(found(await lookAtConflicts(facts()))).toMatchObject({
      network: expect.stringContaining('has the gateway of a default route in it: 100.64.7.1'),
      neighbours: expect.stringMatching(/^warning: tailscale0 has addresses of 100\.64\.0\.0\/10 too/),
      agents: 'warning: ctl1 belongs to another agent of this machine',
    })
  })
})
