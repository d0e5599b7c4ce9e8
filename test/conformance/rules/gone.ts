import { expect } from 'vitest'
import type { Operation } from '../../../src/shared/contract/operation.ts'
import type { ProblemCode } from '../../../src/shared/problems.ts'
import { missingCodes, namedObjects, type NamedObject } from '../named-objects.ts'
import type { Placed } from '../placed.ts'
import type { ValidCall } from '../scenario.ts'
import { expectProblem, send, wireOf, type ConformanceWorld, type Rule, type Sent, type Subject } from './rule.ts'

/** What a second DELETE answers where it is not that the object is missing. */
interface SecondDelete {
  readonly clause: string
  /** Undefined where it succeeds again. */
  readonly code?: ProblemCode
}

const REVOCATION = 'decision 0005: revoking a revoked token is 204 and changes nothing'

/** Every exception by the name of its operation, with the clause that says so. */
const SECOND_DELETE: Readonly<Record<string, SecondDelete>> = {
  DeleteAuthTokenByID: { clause: REVOCATION },
  DeleteAdminTokenByID: { clause: REVOCATION },
  DeleteJoinToken: { clause: REVOCATION },
  DeleteAuthSession: { clause: 'S0 Authentication 2: idempotent, always 204' },
  DeleteObjectLabel: { clause: 'S1 Label registry: delete of an absent assignment answers 204' },
  DeleteAuthSessionByID: { clause: 'the scenario deletes the session that it calls with', code: 'unauthenticated' },
}

/** What is answered about objects that were deleted. */
export const goneRules: readonly Rule[] = [
  {
    title: 'answers the second DELETE as that of an object that is not there',
    applies: ({ method }) => method === 'DELETE',
    async check(subject) {
      const call = await subject.arrange()
      const wire = wireOf(subject, call)
      expect((await send(subject, wire, call.as)).answer.status).toBe(204)
      const second = await send(subject, wire, call.as)
      const exception = SECOND_DELETE[subject.id]
      if (exception === undefined) expectMissing(subject, second, missingOwn(subject, call))
      else if (exception.code === undefined) expect(second.answer.status, exception.clause).toBe(204)
      else expectProblem(subject, second, [exception.code])
    },
  },
  {
    title: 'answers a call that names a deleted object as if it had never been there',
    applies: (operation, _, contract) => deletable(operation, contract).length > 0,
    async check(subject) {
      for (const object of deletable(subject.operation, subject.contract)) {
        const call = await callNaming(subject, object)
        if (call === undefined) continue
        const gone = await deletedOnce(subject, object.deletion)
        const named = { ...call, input: object.rename(call.input, gone) }
        const sent = await send(subject, wireOf(subject, named), named.as)
        expectMissing(subject, sent, missingCodes(subject, object, call.as))
      }
    },
  },
]

/** Named objects that their DELETE removes: what can be deleted again is still there, and the audit log outlives its Domains. */
function deletable(operation: Operation, contract: readonly Placed[]): readonly NamedObject[] {
  if (operation.path.startsWith('/v1/audit')) return []
  return namedObjects(operation, contract).filter(({ deletion }) => SECOND_DELETE[deletion.id] === undefined)
}

/** A call whose input names that object; undefined when neither the scenario's nor its variants do. */
async function callNaming(subject: Subject, { isNamedIn }: NamedObject): Promise<ValidCall | undefined> {
  const { variants = [], ...call } = await subject.refused()
  const input = [call.input, ...variants].find(isNamedIn)
  return input && { ...call, input }
}

const deletedIn = new WeakMap<ConformanceWorld, Map<string, Promise<ValidCall['input']>>>()

/** The members that named a deleted object; each world has one for each DELETE. */
function deletedOnce({ world, of }: Subject, deletion: Placed): Promise<ValidCall['input']> {
  const known = deletedIn.get(world) ?? new Map<string, Promise<ValidCall['input']>>()
  deletedIn.set(world, known)
  const gone = known.get(deletion.id) ?? deleted(of(deletion))
  known.set(deletion.id, gone)
  return gone
}

/** Deletes an object and resolves with the members that named it. */
async function deleted(deletion: Subject): Promise<ValidCall['input']> {
  const call = await deletion.arrange()
  const { answer } = await send(deletion, wireOf(deletion, call), call.as)
  expect(answer.status, answer.text).toBe(204)
  return call.input
}

/** What the operation answers when the object that its path names is missing. */
function missingOwn(subject: Subject, call: ValidCall): readonly ProblemCode[] {
  const [, member = ''] = /\{(\w+)\}$/.exec(subject.operation.path) ?? []
  return missingCodes(subject, { source: 'path', member }, call.as)
}

/** A list that declares no code for it is empty. */
function expectMissing(subject: Subject, sent: Sent, codes: readonly ProblemCode[]): void {
  if (codes.length > 0) return expectProblem(subject, sent, codes)
  expect(sent.answer.json, sent.answer.text).toMatchObject({ items: [] })
}
