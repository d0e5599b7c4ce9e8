import { expect } from 'vitest'
import { z } from 'zod'
import { answersHead, pageSourceOf } from '../../../src/shared/contract/operation.ts'
import type { ProblemCode } from '../../../src/shared/problems.ts'
import { withPage } from './lists.ts'
import { badRequests, expectProblem, send, sendUnrouted, wireOf, type Rule, type Subject } from './rule.ts'

/** Operations to which a malformed path member is one that nothing has, with the clause that says so. */
const MALFORMED_IS_UNKNOWN: Readonly<Record<string, { readonly code: ProblemCode; readonly clause: string }>> = {
  GetPlexdArtifact: {
    code: 'release_not_found',
    clause: 'S1 Release registry: a malformed version gives the same 404',
  },
  GetPlexdArtifactSignature: { code: 'release_not_found', clause: 'S1 Release registry: likewise' },
}

/** Path and query members, methods. */
export const parameterRules: readonly Rule[] = [
  {
    title: 'refuses a malformed path member with its own code',
    applies: ({ params }) => params !== undefined,
    async check(subject) {
      const call = await subject.refused()
      const unknown = MALFORMED_IS_UNKNOWN[subject.id]?.code
      for (const { name, code = unknown, isTaken } of pathMembers(subject)) {
        const codes = code === undefined ? badRequests(subject) : [code]
        const noIds = code === undefined ? [] : NO_IDS.filter((text) => !isTaken(text))
        for (const wrong of [...UNSTORABLE, ...noIds]) {
          const wire = wireOf(subject, { ...call, input: { ...call.input, [name]: wrong } })
          expectProblem(subject, await send(subject, wire, call.as), [...codes, 'invalid_path'])
        }
      }
    },
  },
  {
    title: 'refuses broken percent-encoding in its path',
    applies: ({ params }) => params !== undefined,
    async check(subject) {
      const call = await subject.refused()
      const { method, path } = wireOf(subject, call)
      const [, last = ''] = /\{(\w+)\}(?!.*\{)/.exec(subject.operation.path) ?? []
      const broken = path.replace(encodeURIComponent(String(call.input[last])), '%zz')
      const { answer } = await sendUnrouted(subject, { method, path: broken }, call.as)
      expect({ status: answer.status, code: answer.json?.['code'] }).toEqual({ status: 400, code: 'invalid_path' })
    },
  },
  {
    title: 'refuses query members that it does not know, repeated ones and broken percent-encoding',
    applies: () => true,
    async check(subject) {
      const call = await subject.refused()
      const wire = wireOf(subject, call)
      const joint = wire.path.includes('?') ? '&' : '?'
      const unknown = toleratesUnknown(subject) ? [] : ['unknown_member=1', '__proto__=1']
      for (const added of [...unknown, 'cursor=a&cursor=b', 'limit=%zz', '%ff=1']) {
        const sent = await send(subject, { ...wire, path: `${wire.path}${joint}${added}` }, call.as)
        expectProblem(subject, sent, ['invalid_query'])
      }
    },
  },
  {
    title: 'keeps to the bounds of lists and to cursors of its own',
    applies: ({ paging }) => paging !== undefined,
    async check(subject) {
      const call = await subject.arrange()
      const ask = async (members: object) =>
        send(subject, wireOf(subject, { ...call, input: withPage(subject, call, members) }), call.as)
      const isInBody = pageSourceOf(subject.operation) === 'body'
      const isClamped = subject.operation.paging?.limit === 'clamped'
      const malformed = isClamped ? 'invalid_query' : 'invalid_limit'
      for (const limit of ['0', '201', '-1', ...(isClamped ? ['9'.repeat(400)] : [])]) {
        const sent = await ask({ limit: isInBody ? Number(limit) : limit })
        if (subject.operation.paging?.limit === 'rejected') expectProblem(subject, sent, ['invalid_limit'])
        else expect(sent.answer.status).toBe(200)
      }
      for (const limit of ['', 'x', '1e1', '0x10', '1.5', ' 1'])
        expectProblem(subject, await ask({ limit }), [malformed])
      for (const limit of [1, 200])
        expect((await ask({ limit: isInBody ? limit : String(limit) })).answer.status).toBe(200)
      for (const cursor of ['', 'x', 'AAAA', 'A'.repeat(500)])
        expectProblem(subject, await ask({ cursor }), ['invalid_cursor'])
    },
  },
  {
    title: 'answers other methods of its path with 405 and names those that it has',
    applies: () => true,
    async check(subject) {
      const { path } = wireOf(subject, await subject.refused())
      const own = [subject.operation.method, ...(answersHead(subject.operation) ? ['HEAD'] : [])]
      for (const method of ['OPTIONS', 'PROPFIND']) {
        const { answer } = await sendUnrouted(subject, { method, path }, undefined)
        expect(answer.status).toBe(405)
        expect(String(answer.headers['allow']).split(', ')).toEqual(expect.arrayContaining(own))
      }
    },
  },
]

/** A callback of OAuth takes members that it does not know (RFC 6749 §4.1.2). */
function toleratesUnknown({ operation: { query } }: Subject): boolean {
  return query instanceof z.ZodObject && query.def.catchall === undefined
}

const UNSTORABLE = ['\u0000', 'x'.repeat(600)]
const NO_IDS = ['not-an-id', '00000000-0000-0000-0000-000000000000']

interface PathMember {
  readonly name: string
  /** The code that it declares. */
  readonly code: ProblemCode | undefined
  /** Whether it takes that text: a key may look like anything, an id may not. */
  readonly isTaken: (text: string) => boolean
}

function pathMembers({ operation }: Subject): readonly PathMember[] {
  // The contract's schemas are zod's; a path is always an object of them.
  const { shape } = operation.params as unknown as z.ZodObject
  return Object.entries(shape).map(([name, schema]) => {
    const meta = z.globalRegistry.get(schema)
    const isTaken = (text: string): boolean => meta?.['format'] !== 'uuid' && z.safeParse(schema, text).success
    return { name, code: meta?.problem, isTaken }
  })
}
