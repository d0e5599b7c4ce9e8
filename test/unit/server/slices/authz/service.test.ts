import { describe, expect, it } from 'vitest'
import { createAuthz } from '../../../../../src/server/slices/authz/service.ts'
import { pageRange } from '../../../../../src/server/ports/page-range.ts'
import type { RequestContext } from '../../../../../src/server/http/request-context.ts'
import type { Authorizer, CheckQuery, Decision, OwningDomain } from '../../../../../src/server/ports/authorizer.ts'

const HOME = '01935b5e-8f3a-7c61-9d0a-000000000001'
const ABROAD = '01935b5e-8f3a-7c61-9d0a-000000000002'
const CALLER = 'user:01935b5e-8f3a-7c61-9d0a-000000000003'
const FACTS = { nowMs: 7, sourceIp: '10.0.0.1', acr: 'gold' }

interface World {
  readonly decision: Decision
  readonly domains?: Readonly<Record<string, OwningDomain>>
  readonly readsPlatform?: boolean
  /** Answers like an engine that is asked over the network. */
  readonly isRemote?: boolean
}

function setUp({ decision, domains = {}, readsPlatform = false, isRemote = false }: World) {
  const asked: CheckQuery[] = []
  const denials: string[] = []
  const given = <T>(value: T): T | Promise<T> => (isRemote ? Promise.resolve(value) : value)
  const authorizer: Authorizer = {
    kind: 'embedded',
    check(query) {
      asked.push(query)
      if (query.resource !== 'platform:main') return given(decision)
      return given(readsPlatform ? { allowed: true, path: [] } : { allowed: false, reason: 'insufficient_relation' })
    },
    domainOf: (reference) => given(domains[reference]),
    pathOf: () => [],
    hasRelation: () => true,
  }
  const unused = () => expect.fail('not needed for a check')
  const ctx: RequestContext = {
    caller: {
      subject: CALLER,
      kind: 'user',
      id: CALLER.slice(5),
      domainId: HOME,
      displayName: 'Ann',
      credential: { kind: 'api-token', id: 'x', scopes: ['*'], expiresAtMs: undefined },
    },
    correlationId: 'c-1',
    sourceAddress: '10.0.0.1',
    nowMs: 7,
    facts: FACTS,
    pageRange: pageRange(undefined, 50),
    admit: unused,
    probe: unused,
    visible: unused,
    require: unused,
    holds: unused,
    change: unused,
    heldAs: unused,
    approval: undefined,
    carryAudit: unused,
    note: () => undefined,
    about: unused,
    denied: (reason) => void denials.push(reason),
    refusedFor: () => undefined,
    isAbandoned: () => false,
    header: unused,
    requestHeader: unused,
    presentedSecret: unused,
    reauthorization: unused,
    degraded: () => undefined,
    cookie: unused,
    status: unused,
    get browser() {
      return unused()
    },
    page: unused,
  }
  const check = (body: { subject: string; caveat_context?: Record<string, unknown> }) =>
    createAuthz({ authorizer }).PostAuthzCheck(ctx, { body: { relation: 'read', resource: 'node:n', ...body } })
  return { asked, denials, check }
}

const GRANT: Decision = { allowed: true, path: ['domain', 'read'] }
const HERE = { 'user:u': HOME, 'node:n': HOME, [CALLER]: HOME }

describe('a check', () => {
  it.each([
    ['answers at once within the Domain', { decision: GRANT, domains: HERE }, 'allowed'],
    [
      'answers at once for those who read the platform',
      { decision: GRANT, domains: { ...HERE, 'node:n': ABROAD }, readsPlatform: true },
      'allowed',
    ],
    ['denies at once beyond the Domain', { decision: GRANT, domains: { ...HERE, 'node:n': ABROAD } }, 'denied'],
  ] as const)('%s', (_rule, world, decision) => {
    const { check } = setUp(world)
    expect(check({ subject: 'user:u' })).toMatchObject({ decision })
  })

  it.each([
    [
      { decision: GRANT, domains: HERE },
      { decision: 'allowed', relation_path: ['domain', 'read'] },
    ],
    [
      { decision: GRANT, domains: { ...HERE, 'user:u': ABROAD } },
      { decision: 'denied', reason: 'insufficient_relation' },
    ],
    [{ decision: GRANT, domains: { ...HERE, 'user:u': ABROAD }, readsPlatform: true }, { decision: 'allowed' }],
    [{ decision: GRANT, domains: { 'node:n': HOME }, readsPlatform: true }, { decision: 'denied' }],
    [{ decision: GRANT, domains: { ...HERE, 'node:n': null } }, { decision: 'denied' }],
    [{ decision: GRANT, domains: { ...HERE, 'node:n': null }, readsPlatform: true }, { decision: 'allowed' }],
    [
      { decision: { allowed: false, reason: 'caveat_violation' }, domains: HERE },
      { decision: 'denied', reason: 'caveat_violation' },
    ],
    [
      { decision: { allowed: false, reason: 'caveat_violation' }, domains: { ...HERE, 'node:n': ABROAD } },
      { decision: 'denied', reason: 'insufficient_relation' },
    ],
  ] as const)('of %j answers %j, at once and over the network', async (world, expected) => {
    const near = setUp(world)
    const far = setUp({ ...world, isRemote: true })
    const answer = near.check({ subject: 'user:u' })
    expect(answer).toMatchObject({ ...expected, correlation_id: 'c-1' })
    expect(await far.check({ subject: 'user:u' })).toEqual(answer)
    expect(near.denials).toEqual(expected.decision === 'denied' ? [expect.any(String)] : [])
    expect(far.denials).toEqual(near.denials)
  })

  it('names only the facts that the request names, and none by default', () => {
    const { check, asked } = setUp({ decision: GRANT, domains: HERE })
    void check({ subject: 'user:u' })
    void check({ subject: 'user:u', caveat_context: { now: 'a value', acr: 'another' } })
    expect(asked.map(({ allowedFacts }) => [...(allowedFacts ?? ['everything'])])).toEqual([[], ['now', 'acr']])
  })

  it('knows of the caller what the edge knows, and of others the time alone', () => {
    const { check, asked } = setUp({ decision: GRANT, domains: HERE })
    void check({ subject: CALLER })
    void check({ subject: 'user:u' })
    expect(asked.map(({ facts }) => facts)).toEqual([FACTS, { nowMs: 7 }])
  })
})
