import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { hasGate, legsOf, type Operation } from '../../../src/shared/contract/operation.ts'
import type { ProblemCode } from '../../../src/shared/problems.ts'
import {
  expectProblem,
  send,
  wireOf,
  type AuditedRow,
  type ConformanceWorld,
  type Rule,
  type Sent,
  type Subject,
} from './rule.ts'

const takesCredentials = ({ credentials }: Operation): boolean => credentials.length > 0

/** Credentials, scopes and gates. */
export const accessRules: readonly Rule[] = [
  {
    title: 'refuses a caller without a credential that resolves, and says how to sign in',
    applies: takesCredentials,
    async check(subject) {
      const wire = wireOf(subject, await subject.refused())
      const expected = subject.operation.unauthenticated ?? 'unauthenticated'
      for (const credential of [undefined, 'nonsense', 'psk_test_00_x', 'nsk_x', 'jtk_x', 'a.b.c']) {
        const sent = await send(subject, wire, credential)
        expectProblem(subject, sent, [expected])
        expect(sent.answer.headers['www-authenticate']).toBe('Bearer')
      }
    },
  },
  {
    title: 'is open: a credential that does not resolve is no hindrance',
    applies: (operation) => !takesCredentials(operation),
    async check(subject) {
      const sent = await send(subject, wireOf(subject, await subject.arrange()), 'nonsense')
      expect(sent.answer.status).toBeLessThan(400)
    },
  },
  {
    title: 'refuses a token whose scopes do not cover it',
    applies: ({ credentials, anyScope }, surface) =>
      credentials.includes('api-token') && anyScope !== true && surface !== 'meta',
    async check(subject) {
      const sent = await send(subject, wireOf(subject, await subject.refused()), subject.world.narrow)
      expectProblem(subject, sent, ['permission_denied'])
      expect(sent.answer.json).toMatchObject({ reason: 'out_of_scope', relation_path: [] })
    },
  },
  {
    title: 'refuses a known caller whom its gate does not admit, and audits that',
    applies: ({ gate }) => hasGate(gate) || gate.ownNode !== undefined,
    async check(subject) {
      const call = await subject.refused()
      const callers = [call, ...(call.also ?? [])].flatMap(({ lesser }) => lesser ?? [])
      expect(callers, 'the scenario names nobody whom the gate refuses').not.toEqual([])
      for (const credential of callers) {
        const sent = await send(subject, wireOf(subject, call), credential)
        expectDenial(subject, sent, denialOf(subject.operation, credential))
        await expectAudited(subject, sent, { outcome: 'permission_denied', domainId: call.domainId })
      }
    },
  },
  {
    title: 'refuses a caller who may see the object and not do this without hiding it, and audits that',
    applies: ({ gate }) => gate.foldUnless !== undefined,
    async check(subject) {
      const call = await subject.refused()
      expect(call.onlooker, 'the scenario names nobody who may see the object only').toBeDefined()
      const sent = await send(subject, wireOf(subject, call), call.onlooker)
      expectDenial(subject, sent, 'permission_denied')
      await expectAudited(subject, sent, { outcome: 'permission_denied', domainId: call.domainId })
    },
  },
  {
    title: 'refuses a caller who lacks one of the legs that its gate needs, and names that leg',
    applies: ({ gate }) => gate.allOf !== undefined && gate.fold === undefined,
    async check(subject) {
      const call = await subject.refused()
      const callers = [call, ...(call.also ?? [])].flatMap(({ lesser }) => lesser ?? [])
      const named = new Set<unknown>()
      for (const credential of callers) {
        const { answer } = await send(subject, wireOf(subject, call), credential)
        named.add(Object(answer.json?.['missing_relation'])['relation'])
      }
      const needed = legsOf(subject.operation.gate).map(({ relation }) => relation)
      expect([...named].toSorted(), 'a leg that nobody of the scenario lacks').toEqual([...new Set(needed)].toSorted())
    },
  },
]

/** What a caller whom the gate refuses is answered. */
export function denialOf({ gate }: Operation, credential: string): ProblemCode {
  if (gate.ownNode !== undefined && credential.startsWith('nsk_')) return gate.ownNode.mismatch
  // Those whom the gate refuses do not hold the leg that a narrowed fold is for, nor one that takes them out of it.
  return (gate.foldFor === undefined ? gate.fold : undefined) ?? 'permission_denied'
}

function expectDenial(subject: Subject, sent: Sent, code: ProblemCode): void {
  expectProblem(subject, sent, [code])
  if (code !== 'permission_denied') return
  expect(sent.answer.json).toMatchObject({
    reason: 'insufficient_relation',
    relation_path: expect.any(Array),
    missing_relation: { object: expect.any(String), relation: expect.any(String), subject: expect.any(String) },
  })
}

/** Asserts that the request left its audit row, unless the contract wants none. */
export async function expectAudited(
  subject: Subject,
  { correlationId }: Sent,
  expected: { readonly outcome: string | undefined; readonly domainId: string | undefined; readonly reason?: string },
): Promise<void> {
  const { audit, gate } = subject.operation
  if ('none' in audit) return
  const relations = audit.pathGate !== undefined && gate.ownNode ? [audit.relation, audit.pathGate] : [audit.relation]
  const [row] = await onlyRow(() => subject.world.audited(correlationId, expected.domainId), subject.world)
  expect(relations).toContain(row?.relation)
  if (expected.outcome !== undefined) expect(row?.outcome).toBe(expected.outcome)
  if (expected.reason !== undefined) expect(row?.reason).toBe(expected.reason)
  expect(row?.object).toMatch(/^[a-z_]+:[^{}]+$/)
}

/** Reads audit rows until there is one. Faults are looked for concurrently, where `expect.poll` does not find its test. */
async function onlyRow(
  read: () => Promise<readonly AuditedRow[]>,
  { auditDeadlineMs = 5_000 }: ConformanceWorld,
): Promise<readonly AuditedRow[]> {
  const deadline = Date.now() + auditDeadlineMs
  let rows = await read()
  while (rows.length !== 1 && Date.now() < deadline) {
    await delay(20)
    rows = await read()
  }
  expect(rows.length).toBe(1)
  return rows
}
