import { expect } from 'vitest'
import { answersHead } from '../../../src/shared/contract/operation.ts'
import { PROBLEMS } from '../../../src/shared/problems.ts'
import type { WireRequest } from '../wire.ts'
import { denialOf, expectAudited } from './access.ts'
import { send, sendUnrouted, wireOf, type Rule } from './rule.ts'

const headOf = (wire: WireRequest): WireRequest => ({ ...wire, method: 'HEAD' })

/** Headers that differ from one answer to the next, or with the connection. */
const OWN = new Set(['date', 'x-correlation-id', 'connection', 'keep-alive', 'content-length', 'etag', 'server-timing'])

const namesOf = (headers: object): readonly string[] =>
  Object.keys(headers)
    .filter((name) => !OWN.has(name))
    .toSorted()

/** HEAD beside GET (RFC 9110 §9.3.2). */
export const headRules: readonly Rule[] = [
  {
    title: 'answers HEAD as GET, without the body: the same gate, headers and audit row',
    applies: answersHead,
    async check(subject) {
      const call = await subject.arrange()
      const wire = wireOf(subject, call)
      const { answer: whole } = await send(subject, wire, call.as)
      const head = await send(subject, headOf(wire), call.as)
      const { answer } = head
      expect([answer.status, answer.text]).toEqual([whole.status, ''])
      expect(namesOf(answer.headers)).toEqual(namesOf(whole.headers))
      expect(answer.headers['content-type']).toBe(whole.headers['content-type'])
      expect('content-length' in answer.headers).toBe('content-length' in whole.headers)
      const { audit } = subject.operation
      if (!('none' in audit) && audit.when === 'all')
        await expectAudited(subject, head, { outcome: 'granted', domainId: call.domainId })
    },
  },
  {
    title: 'refuses HEAD to whom it refuses GET, and audits that',
    applies: (operation) => answersHead(operation) && operation.credentials.length > 0,
    async check(subject) {
      const call = await subject.refused()
      const wire = headOf(wireOf(subject, call))
      const { answer: unknown } = await send(subject, wire, undefined)
      expect([unknown.status, unknown.text, unknown.headers['www-authenticate']]).toEqual([401, '', 'Bearer'])
      for (const lesser of [call, ...(call.also ?? [])].flatMap((caller) => caller.lesser ?? [])) {
        const refused = await send(subject, wire, lesser)
        const { status } = PROBLEMS[denialOf(subject.operation, lesser)]
        expect([refused.answer.status, refused.answer.text]).toEqual([status, ''])
        await expectAudited(subject, refused, { outcome: 'permission_denied', domainId: call.domainId })
      }
    },
  },
  {
    title: 'refuses HEAD with the methods that there are',
    applies: (operation) => operation.method === 'GET' && !answersHead(operation),
    async check(subject) {
      const call = await subject.refused()
      const { answer } = await sendUnrouted(subject, headOf(wireOf(subject, call)), call.as)
      const allowed = String(answer.headers['allow']).split(', ')
      expect([answer.status, answer.text, allowed]).toEqual([405, '', expect.arrayContaining(['GET'])])
      expect(allowed).not.toContain('HEAD')
    },
  },
]
