import { expect } from 'vitest'
import { bodyProblemOf } from '../../../src/shared/contract/problem-codes.ts'
import type { Operation } from '../../../src/shared/contract/operation.ts'
import type { ValidCall } from '../scenario.ts'
import type { WireRequest } from '../wire.ts'
import { badRequests, expectProblem, send, wireOf, type Rule, type Subject } from './rule.ts'

const hasBody = ({ body }: Operation): boolean => body !== undefined
const hasNone = ({ body, method }: Operation): boolean => body === undefined && method !== 'GET'

const JSON_HEADERS = { 'content-type': 'application/json' }

/** Size, media type, decoding and members of bodies. */
export const bodyRules: readonly Rule[] = [
  {
    title: 'refuses one byte more than its cap, with an announced length and without',
    applies: hasBody,
    async check(subject) {
      const call = await subject.refused()
      const body = padded(call, capOf(subject) + 1)
      for (const chunked of [false, true]) {
        const sent = await send(subject, { ...bare(subject, call), body, chunked }, call.as)
        expectProblem(subject, sent, [subject.operation.overCap ?? 'request_body_too_large'])
      }
    },
  },
  {
    title: 'takes a body of exactly its cap',
    applies: hasBody,
    async check(subject) {
      const call = await subject.arrange()
      const { answer } = await send(subject, { ...bare(subject, call), body: padded(call, capOf(subject)) }, call.as)
      expect(Object.keys(subject.operation.responses)).toContain(String(answer.status))
    },
  },
  {
    title: 'refuses a member that it does not know',
    applies: hasBody,
    async check(subject) {
      const call = await subject.refused()
      for (const name of ['unknown_member', 'constructor', '__proto__']) {
        const body = `{"${name}":1,${JSON.stringify(call.input['body'] ?? {}).slice(1)}`.replace(',}', '}')
        const sent = await send(subject, { ...bare(subject, call), body }, call.as)
        expectProblem(subject, sent, [bodyProblemOf(subject.operation)])
      }
    },
  },
  {
    title: 'refuses what is not JSON, not UTF-8, not an object or cannot be stored',
    applies: hasBody,
    async check(subject) {
      const call = await subject.refused()
      for (const body of NO_BODIES) {
        const sent = await send(subject, { ...bare(subject, call), body }, call.as)
        expectProblem(subject, sent, badRequests(subject))
      }
    },
  },
  {
    title: 'refuses other media types',
    applies: hasBody,
    async check(subject) {
      const call = await subject.refused()
      const { body = '{}' } = wireOf(subject, call)
      for (const media of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'nonsense']) {
        const wire = { ...bare(subject, call), headers: { 'content-type': media }, body }
        expectProblem(subject, await send(subject, wire, call.as), ['unsupported_media_type'])
      }
    },
  },
  {
    title: 'refuses a body with members, since it takes none',
    applies: hasNone,
    async check(subject) {
      const call = await subject.refused()
      const sent = await send(subject, { ...bare(subject, call), body: '{"unknown_member":1}' }, call.as)
      expectProblem(subject, sent, ['invalid_body'])
    },
  },
]

/** Bodies that no operation takes. */
const NO_BODIES: readonly (string | Uint8Array)[] = [
  '{',
  '{"a":}',
  '[]',
  'null',
  '"text"',
  '1',
  '{}{}',
  '\ufeff{}',
  '{"unknown_member":"\\u0000"}',
  '{"unknown_member":"\\ud800"}',
  '{"\\udc00":1}',
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  '['.repeat(900),
]

function capOf({ operation: { bodyBytesMax = 0 } }: Subject): number {
  return bodyBytesMax
}

/** The call's body with blanks before its end, up to so many bytes. */
function padded({ input }: ValidCall, bytes: number): string {
  const text = JSON.stringify(input['body'] ?? {})
  return text.slice(0, -1) + ' '.repeat(bytes - Buffer.byteLength(text)) + text.slice(-1)
}

/** The request without its body. */
function bare(subject: Subject, call: ValidCall): WireRequest {
  const { method, path } = wireOf(subject, call)
  return { method, path, headers: JSON_HEADERS }
}
