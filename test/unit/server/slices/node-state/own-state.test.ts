import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderOwn, type OwnBlocks } from '../../../../../src/server/slices/node-state/own-state.ts'
import { canonicalize } from '../../../../../src/shared/canonical-json.ts'
import { formatPskIssuedAt } from '../../../../../src/shared/mesh/psk-instant.ts'

const json = fc.jsonValue({ noUnicodeString: true }).map(canonicalize)
const object = fc.dictionary(fc.string(), fc.jsonValue({ noUnicodeString: true })).map(canonicalize)
const ms = fc.integer({ min: 0, max: 253_402_300_799_999 })

const self = fc.record({
  name: fc.constantFrom('web-1', 'web-2', 'db', '0'),
  meshAddress: fc.ipV4(),
  meshCidr: fc.ipV4().map((address) => `${address}/32`),
  pskIssuedAtNs: fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n }),
})

const blocks: fc.Arbitrary<OwnBlocks> = fc.record({
  self,
  policies: fc.array(
    fc.record({
      policyId: fc.uuid(),
      revisionId: fc.uuid(),
      fingerprint: fc.base64String(),
      rules: json.map((r) => `[${r}]`),
    }),
  ),
  bridges: fc.array(fc.record({ resourceId: fc.uuid(), config: object })),
  reports: fc
    .uniqueArray(fc.record({ key: fc.stringMatching(/^[a-z][a-z0-9._-]{0,12}$/), value: json }), {
      selector: ({ key }) => key,
    })
    .map((reports) => reports.toSorted((a, b) => (a.key < b.key ? -1 : 1))),
  executions: fc.array(
    fc.record({
      id: fc.uuid(),
      action: fc.string({ unit: 'grapheme' }),
      type: fc.constantFrom('builtin', 'hook'),
      parameters: fc.option(object),
      status: fc.constantFrom('pending', 'ack', 'started'),
      requestedAtMs: ms,
      expiresAtMs: ms,
    }),
  ),
  sessions: fc.array(
    fc.record({
      id: fc.uuid(),
      kind: fc.constantFrom('ssh', 'cluster_api', 'tcp'),
      target: fc.string({ unit: 'grapheme' }),
      expiresAtMs: ms,
      idleTimeoutSeconds: fc.option(fc.nat()),
    }),
  ),
})

const instant = (at: number): string => new Date(at).toISOString()

/** As somebody would write it who builds the document and renders it then. */
function naive({ self: { name, ...own }, policies, bridges, reports, executions, sessions }: OwnBlocks): string {
  return canonicalize({
    peers: [],
    policy: {
      policies: policies.map(({ policyId, revisionId, fingerprint, rules }) => ({
        policy_id: policyId,
        revision_id: revisionId,
        fingerprint,
        rules: JSON.parse(rules),
      })),
    },
    bridge: {
      resources: bridges.map(({ resourceId, config }) => ({
        bridge_resource_id: resourceId,
        effective_config: JSON.parse(config),
      })),
    },
    self: {
      name,
      psk_issued_at: formatPskIssuedAt(own.pskIssuedAtNs),
      mesh_cidr: own.meshCidr,
      mesh_address: own.meshAddress,
    },
    'state/reports': Object.fromEntries(reports.map(({ key, value }) => [key, JSON.parse(value)])),
    executions: executions.map((each) => ({
      execution_id: each.id,
      action: each.action,
      type: each.type,
      parameters: each.parameters === null ? undefined : JSON.parse(each.parameters),
      status: each.status,
      requested_at: instant(each.requestedAtMs),
      expires_at: instant(each.expiresAtMs),
    })),
    sessions: sessions.map((each) => ({
      session_id: each.id,
      jti: each.id,
      kind: each.kind,
      target: each.target,
      expires_at: instant(each.expiresAtMs),
      idle_timeout_seconds: each.idleTimeoutSeconds ?? undefined,
    })),
  })
}

test('what stands before and behind the peers is canonical, whatever is stored', () => {
  fc.assert(
    fc.property(blocks, (own) => {
      const { head, tail } = renderOwn(own)
      expect(Buffer.concat([head, tail]).toString()).toBe(naive(own))
    }),
  )
})

test('a node without bridges and executions has every block, and shares what is before its peers with other nodes', () => {
  const web = { name: 'web-1', meshAddress: '100.64.0.2', meshCidr: '100.64.0.0/10', pskIssuedAtNs: 1n }
  const nothing = { policies: [], bridges: [], reports: [], executions: [], sessions: [] }
  const { head, tail } = renderOwn({ self: web, ...nothing })
  expect(Buffer.concat([head, tail]).toString()).toBe(
    '{"bridge":{"resources":[]},"executions":[],"peers":[],"policy":{"policies":[]},"self":{"mesh_address":"100.64.0.2","mesh_cidr":"100.64.0.0/10","name":"web-1","psk_issued_at":"1970-01-01T00:00:00.000000001Z"},"sessions":[],"state/reports":{}}',
  )
  expect(renderOwn({ self: { ...web, name: 'web-2' }, ...nothing }).head).toBe(head)
})
