import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { JsonSchema } from '../../../../src/shared/contract/json-schema.ts'
import { eventsOf } from '../../../../src/shared/contract/events-document.ts'
import { ENVELOPE } from '../../../../src/shared/events/envelope-shape.ts'
import { PAYLOAD_SHAPES } from '../../../../src/shared/events/payload-shapes.ts'
import { SESSION_TOKEN_CLAIMS, SESSION_TOKEN_HEADER } from '../../../../src/shared/events/session-token-shape.ts'
import { WIRE_TYPES } from '../../../../src/shared/events/wire-types.ts'
import type { Shape } from '../../../../src/shared/shapes.ts'

// Formats are notes: whether a text is a calendar date is left to the check, which the last test shows.
const ajv = new Ajv2020({ strict: true, validateFormats: false, allErrors: false })

const SHAPES: readonly (readonly [name: string, shape: Shape<never>])[] = [
  ...WIRE_TYPES.map((type) => [type, PAYLOAD_SHAPES[type] as unknown as Shape<never>] as const),
  ['envelope', ENVELOPE as unknown as Shape<never>],
  ['session token header', SESSION_TOKEN_HEADER as unknown as Shape<never>],
  ['session token claims', SESSION_TOKEN_CLAIMS as unknown as Shape<never>],
]

const UUIDS = ['0197a000-0000-7000-8000-000000000001', '00000000-0000-0000-0000-000000000000', '0197A000', 'x']
const INSTANTS = ['2026-01-01T00:00:00.000000000Z', '2026-01-01T00:00:00.000Z', '2026-01-01', '']
const WORDS = ['changed', 'resync', 'pending', 'builtin', 'ssh', 'peers', 'registered', 'v1', 'EdDSA', 'JWT', 'v2', '']

const scalars = fc.oneof(
  fc.constantFrom<unknown>(...UUIDS, ...INSTANTS, ...WORDS, null, true, 0, 1, -1, 1.5, 2 ** 53, 2 ** 53 - 1),
  fc.string(),
)

/** Values that a schema allows most of the time. Wrong ones are rare, so that most objects fit but for one member. */
function valuesFor(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 60, arbitrary: allowedBy(schema) }, { weight: 1, arbitrary: scalars })
}

function allowedBy({ const: only, enum: words, anyOf, properties, ...schema }: JsonSchema): fc.Arbitrary<unknown> {
  if (only !== undefined) return fc.constant(only)
  if (words !== undefined) return fc.constantFrom<unknown>(...words)
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(valuesFor))
  if (properties !== undefined) return objectsOf(properties)
  if (schema.type === 'array') return fc.array(valuesFor(schema.items ?? {}), { maxLength: 3 })
  if (schema.type === 'object') return fc.dictionary(fc.string(), scalars, { maxKeys: 2 })
  if (schema.type === 'integer') return fc.constantFrom<unknown>(1, 2, 60)
  return fc.constant(schema.format === 'date-time' ? INSTANTS[0] : UUIDS[0])
}

function objectsOf(properties: Readonly<Record<string, JsonSchema>>): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, valuesFor(inner)]))
  const names = Object.keys(members)
  return fc
    .record({
      whole: fc.record(members),
      left: fc.constantFrom(...names, undefined, undefined, undefined),
      more: fc.boolean(),
    })
    .map(({ whole, left, more }) => {
      const kept = Object.entries(whole).filter(([name]) => name !== left)
      return Object.fromEntries(more ? [...kept, ['later', { more: [] }]] : kept)
    })
}

describe.each(SHAPES)('The shape of %s', (_name, shape) => {
  it('checks exactly what its schema says', () => {
    const isValid = ajv.compile(shape.schema)
    let fitting = 0
    fc.assert(
      fc.property(valuesFor(shape.schema), (value) => {
        const fits = shape.fits(value)
        if (fits) fitting += 1
        expect(fits).toBe(isValid(value))
      }),
      { numRuns: 1_000 },
    )
    expect(fitting).toBeGreaterThan(100)
  })
})

test('the document has every event type, and schemas that a strict validator compiles', () => {
  const { events, formats } = eventsOf()
  expect(Object.keys(events)).toEqual([
    'node_state_updated',
    'policy_updated',
    'bridge_config_updated',
    'action_request',
    'session_setup',
  ])
  for (const schema of [...Object.values(events), ...Object.values(formats).map((each) => each.schema)]) {
    expect(() => ajv.compile(schema)).not.toThrow()
  }
})

test('the constants of the formats are those that the vectors are made with', () => {
  const { formats } = eventsOf()
  const constantsOf = (name: string): unknown =>
    Object.fromEntries(
      Object.entries(formats[name]?.schema.properties ?? {}).map(([member, schema]) => [member, schema.const]),
    )
  expect(constantsOf('edge_key_envelope')).toEqual({
    cipher: 'AES-256-GCM',
    layout: 'nonce (12) | ciphertext (32) | tag (16)',
    bytes: 60,
    associated_data: 'service/mesh/edge-psk/v1|{node_id}|{peer_node_id}|{own psk_issued_at}|{peer psk_issued_at}',
  })
  expect(constantsOf('node_secret_envelope')).toEqual({
    cipher: 'AES-256-GCM',
    layout: 'nonce (12) | ciphertext | tag (16)',
    overhead_bytes: 28,
    associated_data: 'service/secrets/v1|{node_id}|{ref}:{version}',
  })
  expect(constantsOf('edge_epoch_digest')).toEqual({
    key: 'mesh.edge-epochs',
    hash: 'SHA-256',
    line: '{peer_node_id}|{own psk_issued_at}|{peer psk_issued_at}\n',
  })
})

test('an instant that is no date fits no shape, whatever its pattern says', () => {
  const change = { node_id: UUIDS[0], changes: [], psk_issued_at: '2026-02-30T00:00:00.000000000Z' }
  expect(PAYLOAD_SHAPES.node_state_updated.fits({ reason: 'changed', blocks: [], peers: [change] })).toBe(false)
})
