import { describe, expect, it } from 'vitest'
import { createExplain } from '../../../../../src/server/slices/authz/explain.ts'
import { createDisclosurePolicy } from '../../../../../src/server/slices/authz/disclosure-policy.ts'
import { createTimeSlices } from '../../../../../src/shared/time-slices.ts'
import type { RequestContext } from '../../../../../src/server/http/request-context.ts'
import type { Authorizer } from '../../../../../src/server/ports/authorizer.ts'
import type { ExplainedCheck, Explanation } from '../../../../../src/shared/authz/explanation.ts'

const HIDDEN = { kind: 'hidden', parts: [] }
const QUESTION = { subject: 'user:bob', relation: 'read', resource: 'project:web' }

const node = (more: Partial<Explanation>): Explanation => ({
  kind: 'permission',
  outcome: 'denied',
  object: 'project:web',
  name: 'read',
  parts: [],
  ...more,
})

/** Explains to `user:ann`, who may read what is named, and lies in the Domain `home` with everything but `abroad:*`. */
async function explain(
  explained: Partial<ExplainedCheck> | (() => Partial<ExplainedCheck>),
  readable: readonly string[],
  question = QUESTION,
) {
  const denials: string[] = []
  const authorizer: Authorizer = {
    kind: 'embedded',
    check: ({ subject, relation, resource }) =>
      subject === 'user:ann' && relation === 'read' && readable.includes(resource)
        ? { allowed: true, path: [] }
        : { allowed: false, reason: 'insufficient_relation' },
    domainOf: (reference) =>
      reference.startsWith('gone:') ? undefined : reference.startsWith('abroad:') ? 'abroad' : 'home',
    pathOf: () => [],
    hasRelation: () => true,
  }
  const insight = {
    explain: () => ({
      outcome: 'denied' as const,
      tree: node({}),
      remedies: [],
      ...(typeof explained === 'function' ? explained() : explained),
    }),
    impact: () => ({ changes: [], count: 0, isComplete: true }),
  }
  const answer = createExplain({
    authorizer,
    insight,
    disclosure: createDisclosurePolicy(authorizer, { mayBeStale: false, slices: createTimeSlices() }),
  })
  // The members that an explanation uses.
  const ctx = {
    caller: { subject: 'user:ann', domainId: 'home' },
    facts: { nowMs: 0 },
    correlationId: 'c',
    note: () => undefined,
    denied: (reason: string) => void denials.push(reason),
  } as unknown as RequestContext
  return { answer: await answer(ctx, question), denials }
}

describe('an explanation', () => {
  it('shows the tree of what the caller may read, with what tuples depend on', async () => {
    const condition = { caveat: 'within_hours', outcome: 'conditional' as const, missing: ['now'], isExpired: false }
    const tuple = node({ kind: 'tuple', name: 'viewer', subject: 'user:bob', condition })
    const tree = node({ parts: [node({ kind: 'union', name: '', parts: [tuple] })] })
    const { answer, denials } = await explain({ tree }, ['project:web'])
    expect(answer).toEqual({
      decision: 'denied',
      reason: 'insufficient_relation',
      tree: {
        kind: 'permission',
        outcome: 'denied',
        object: 'project:web',
        name: 'read',
        parts: [
          {
            kind: 'union',
            outcome: 'denied',
            object: 'project:web',
            parts: [
              {
                kind: 'tuple',
                outcome: 'denied',
                object: 'project:web',
                name: 'viewer',
                subject: 'user:bob',
                condition: { caveat: 'within_hours', outcome: 'conditional', missing: ['now'], is_expired: false },
                parts: [],
              },
            ],
          },
        ],
      },
      remedies: [],
      correlation_id: 'c',
    })
    expect(denials).toEqual(['insufficient_relation'])
  })

  it('hides an object that the caller may not read, with all that is below it', async () => {
    const below = node({ object: 'project:web', parts: [] })
    const tree = node({ parts: [node({ object: 'domain:home', parts: [below] })] })
    const { answer } = await explain({ tree }, ['project:web'])
    expect(answer.tree.parts).toEqual([HIDDEN])
  })

  it('hides a tuple whose subject the caller may not read, but not the one that it asked about, nor everybody', async () => {
    const tuple = (subject: string) => node({ kind: 'tuple', name: 'viewer', subject })
    const tree = node({ parts: ['group:staff#member', 'group:team#member', 'user:bob', 'user:*'].map(tuple) })
    const { answer } = await explain({ tree }, ['project:web', 'group:team'])
    expect(answer.tree.parts.map(({ kind, subject }) => subject ?? kind)).toEqual([
      'hidden',
      'group:team#member',
      'user:bob',
      'user:*',
    ])
  })

  it('offers only grants of which the caller may read each object and subject', async () => {
    const grant = (subject: string, resource: string) => ({ subject, relation: 'viewer', resource })
    const { answer } = await explain(
      {
        remedies: [
          [grant('user:bob', 'project:web')],
          [grant('user:bob', 'domain:home')],
          [grant('user:bob', 'project:web'), grant('group:staff#member', 'project:web')],
        ],
      },
      ['project:web'],
    )
    expect(answer.remedies).toEqual([[grant('user:bob', 'project:web')]])
  })

  it('has the decision of the tree where it was granted after the check', async () => {
    const readable: string[] = []
    const grantedMeanwhile = () => {
      readable.push('project:web')
      return { outcome: 'granted' as const, tree: node({ outcome: 'granted' }) }
    }
    const { answer, denials } = await explain(grantedMeanwhile, readable, { ...QUESTION, subject: 'user:ann' })
    expect(answer).toMatchObject({ decision: 'allowed', relation_path: [], tree: { outcome: 'granted' } })
    expect(denials).toEqual([])
  })

  it.each([
    ['a resource of another Domain', { ...QUESTION, resource: 'abroad:web' }],
    ['a subject of another Domain', { ...QUESTION, subject: 'abroad:bob' }],
    ['a resource that does not exist', { ...QUESTION, resource: 'gone:web' }],
    ['a subject that does not exist', { ...QUESTION, subject: 'gone:bob' }],
  ])('says of %s no more than that it is denied', async (_what, question) => {
    const { answer } = await explain({ remedies: [[QUESTION]] }, ['project:web', 'abroad:web'], question)
    expect(answer).toEqual({
      decision: 'denied',
      reason: 'insufficient_relation',
      tree: HIDDEN,
      remedies: [],
      correlation_id: 'c',
    })
  })
})
