import { pino } from 'pino'
import { expect, it } from 'vitest'
import { RequestAudit } from '../../../../../src/server/http/audit/request-audit.ts'
import { planOperations } from '../../../../../src/server/http/plan-operations.ts'
import type { Authorizer, OwningDomain } from '../../../../../src/server/ports/authorizer.ts'
import { check, type Operation } from '../../../../../src/shared/contract/operation.ts'
import { problem } from '../../../../../src/shared/problems.ts'

const POST_THING: Operation = {
  method: 'POST',
  path: '/v1/things/{id}',
  summary: 'Act',
  credentials: ['api-token'],
  gate: check('read', 'project:{path.id}'),
  audit: { relation: 'thing.act', when: 'all' },
  responses: { 204: null },
  problems: [],
}

/** The chain of the row about a project, where the embedded engine answers so; the caller's chain is `callers`. */
function chainOf(domainOf: () => OwningDomain | Promise<OwningDomain>): string | null | undefined {
  const [plan] = planOperations([{ name: 'things', operations: { PostThing: POST_THING }, handlers: undefined }])
  if (plan === undefined) throw new Error('there is no plan')
  const authorizer: Authorizer = {
    kind: 'embedded',
    check: () => ({ allowed: true, path: [] }),
    domainOf,
    pathOf: () => [],
    hasRelation: () => true,
  }
  const request = {
    plan,
    correlationId: 'c',
    trace: undefined,
    knownCaller: { subject: 'user:ann', domainId: 'callers' },
    sources: () => ({ path: { id: 'p' }, query: {} }),
  }
  const audit = new RequestAudit(request as never, { authorizer, log: pino({ level: 'silent' }) })
  return audit.grantedRow()?.domainId
}

it("the row of a decision is in the chain of its object's Domain", () => {
  expect(chainOf(() => 'homes')).toBe('homes')
})

it("the row is in the caller's chain where the engine fails, at once or after it waited for its lease", async () => {
  expect(
    chainOf(() => {
      throw problem('authz_unavailable')
    }),
  ).toBe('callers')
  // A rejection that nothing handles fails the run, as it would end a server.
  expect(chainOf(() => Promise.reject(problem('authz_unavailable')))).toBe('callers')
  await new Promise(setImmediate)
})
