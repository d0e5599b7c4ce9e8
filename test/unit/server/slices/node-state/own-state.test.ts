import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderOwn, type OwnBlocks } from '../../../../../src/server/slices/node-state/own-state.ts'
import { canonicalize } from '../../../../../src/shared/canonical-json.ts'

const json = fc.jsonValue({ noUnicodeString: true }).map(canonicalize)
const object = fc.dictionary(fc.string(), fc.jsonValue({ noUnicodeString: true })).map(canonicalize)
const ms = fc.integer({ min: 0, max: 253_402_300_799_999 })

const blocks: fc.Arbitrary<OwnBlocks> = fc.record({
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
function naive({ policies, bridges, reports, executions, sessions }: OwnBlocks): string {
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

test('a node that has nothing of its own has every block all the same, and costs no memory', () => {
  const nothing = { policies: [], bridges: [], reports: [], executions: [], sessions: [] }
  const { head, tail } = renderOwn(nothing)
  expect(Buffer.concat([head, tail]).toString()).toBe(
    '{"bridge":{"resources":[]},"executions":[],"peers":[],"policy":{"policies":[]},"sessions":[],"state/reports":{}}',
  )
  expect(renderOwn({ ...nothing }).head).toBe(head)
})
