import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalize } from '../../../../src/shared/canonical-json.ts'
import { payloadIn } from '../../../../src/shared/events/envelope.ts'
import { vector, vectorKey } from '../../../support/events/event-vectors.ts'

const KEY = vectorKey('key-1', 7)

test('The payload of an envelope is found in its text, whatever the payload says', () => {
  const traps = fc.constantFrom('"payload":', ',"type":"', '"},"type":"', ',"signature":"')
  const payloads = fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom('payload', 'type')),
    fc.oneof(fc.jsonValue(), traps),
  )
  fc.assert(
    fc.property(payloads, (payload) => {
      const { wire } = vector(KEY, { node_seq: 1, payload })
      expect(payloadIn(wire)).toBe(canonicalize(payload))
    }),
  )
})
