import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createEmbeddedAuthorizer,
  type EmbeddedAuthorizer,
} from '../../src/server/adapters/embedded-authz/authorizer.ts'
import { createChangeFeed, type FollowedFeed } from '../../src/server/adapters/postgres/change-feed.ts'
import { createUnitOfWork } from '../../src/server/adapters/postgres/unit-of-work.ts'
import { createUuidV7 } from '../../src/server/adapters/system/uuid-v7.ts'
import { addDomain } from '../../src/server/slices/domains/add-domain.ts'
import { newDomain } from '../../src/server/slices/domains/domain.ts'
import type { CaveatFacts } from '../../src/server/ports/authorizer.ts'
import type { Change, Tuple } from '../../src/server/ports/unit-of-work.ts'
import { Problem } from '../../src/shared/problems.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

/** A Monday, 10:00 in Berlin. */
const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const ANN = 'user:01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const PLATFORM = 'platform:main'
const FACTS: CaveatFacts = { nowMs: NOW_MS, sourceIp: '10.1.2.3' }
const EVERY_FIELD = new Set(['now', 'source_ip', 'trusted_networks', 'business_hours'])

function warn(message: string, cause?: unknown): never {
  throw new Error(message, { cause })
}

async function refusalOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
    return 'none'
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, ...error.extras }
    throw error
  }
}

describe.each(STORES)('what the embedded authorizer tells of its tuples on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    const clock = { now: () => NOW_MS }
    const ids = createUuidV7(clock)
    let feed: FollowedFeed
    let authorizer: EmbeddedAuthorizer

    beforeEach(async () => {
      await emptyTables(inUse.current())
      feed = createChangeFeed({ datastore: inUse.current(), warn })
      authorizer = createEmbeddedAuthorizer({ datastore: inUse.current(), changeFeed: feed })
    })
    afterEach(() => feed.stop())

    function change<T>(work: (tx: Change) => Promise<T>): Promise<T> {
      const { validateTuple } = authorizer
      const failures = {
        onAuditFailure: (error: unknown) => warn('audit', error),
        onLateFeed: (error: unknown) => warn('late', error),
      }
      const unitOfWork = createUnitOfWork({ datastore: inUse.current(), feed, clock, ids, validateTuple, ...failures })
      return unitOfWork.run({ pool: 'interactive', correlationId: 'arranged' }, work)
    }

    const grant = (tuple: Tuple, domainId: string | null = null) =>
      change((tx) => tx.tuples.create(tuple, { domainId, projectId: null }))

    async function addedDomain(slug: string): Promise<string> {
      const settings = { trusted_networks: ['10.0.0.0/8'] }
      const domain = newDomain(ids.next(), { slug, display_name: slug, ...settings }, new Date(NOW_MS))
      await change((tx) => addDomain(tx, domain))
      return domain.id
    }

    const managed = (facts: CaveatFacts, allowedFacts: ReadonlySet<string> = EVERY_FIELD) =>
      authorizer.lookups.resources({ subject: ANN, relation: 'manage', resourceType: 'domain', facts, allowedFacts })

    it('refuses lookups, explanations and previews before the tuples are loaded', async () => {
      const unavailable = { code: 'authz_unavailable' }
      const query = { subject: ANN, relation: 'read', resource: PLATFORM, facts: FACTS, wantPath: false }
      expect(await refusalOf(() => managed(FACTS))).toMatchObject(unavailable)
      expect(await refusalOf(() => authorizer.insight.explain(query))).toMatchObject(unavailable)
      const impact = () => authorizer.insight.impact({ edits: [], facts: FACTS, changesMax: 10 })
      expect(await refusalOf(impact)).toMatchObject(unavailable)
    })

    it('finds what was granted in the order in which it was made', async () => {
      await feed.start()
      const [first, second] = [await addedDomain('one'), await addedDomain('two')]
      await grant({ subject: ANN, relation: 'admin', resource: `domain:${second}` }, second)
      await grant({ subject: ANN, relation: 'admin', resource: `domain:${first}` }, first)
      expect(await managed(FACTS)).toEqual([`domain:${first}`, `domain:${second}`])
      const subjects = { subjectType: 'user', relation: 'manage', resource: `domain:${first}` }
      expect(await authorizer.lookups.subjects({ ...subjects, facts: FACTS, allowedFacts: EVERY_FIELD })).toEqual([ANN])
    })

    it('counts what a caveat allows by the settings of each Domain, and nothing that it cannot tell', async () => {
      await feed.start()
      const [first, second] = [await addedDomain('one'), await addedDomain('two')]
      for (const id of [first, second]) {
        const tuple = { subject: ANN, relation: 'admin', resource: `domain:${id}`, caveatName: 'from_network' }
        await grant(tuple, id)
      }
      expect(await managed(FACTS)).toEqual([`domain:${first}`, `domain:${second}`])
      expect(await managed({ nowMs: NOW_MS })).toEqual([])
      expect(await managed(FACTS, new Set())).toEqual([])
    })

    it('explains a denial with the fields that were missing and the grants that would help', async () => {
      await feed.start()
      const [home, other] = [await addedDomain('home'), await addedDomain('other')]
      const place = { domainId: home, projectId: null }
      const parent = { subject: `domain:${home}`, relation: 'domain', resource: ANN }
      await change((tx) => tx.tuples.createStructural(parent, place))
      const asked = { subject: ANN, relation: 'operate', facts: { nowMs: NOW_MS }, wantPath: false }
      const denied = await authorizer.insight.explain({ ...asked, resource: `domain:${home}` })
      expect(denied.outcome).toBe('denied')
      expect(
        denied.remedies.map((tuples) => tuples.map(({ relation, resource }) => `${resource}#${relation}`)),
      ).toEqual([[`domain:${home}#admin`], [`domain:${home}#operator`], ['platform:main#admin']])
      const elsewhere = await authorizer.insight.explain({ ...asked, resource: `domain:${other}` })
      expect(elsewhere.remedies.map((tuples) => tuples.map(({ resource }) => resource))).toEqual([[PLATFORM]])
    })

    it('previews a grant and leaves no trace of it', async () => {
      await feed.start()
      const home = await addedDomain('home')
      const before = authorizer.stats()
      const tuple = {
        subject_type: 'user',
        subject_id: ANN.slice(5),
        subject_relation: '',
        relation: 'auditor',
        resource_type: 'domain',
        resource_id: home,
        caveat_name: '',
        domain_id: home,
      }
      const edits = [{ op: 'create', tuple }] as const
      const impact = await authorizer.insight.impact({ edits, facts: FACTS, changesMax: 2 })
      const gained = { subject: ANN, resource: `domain:${home}`, change: 'gains' }
      expect(impact).toEqual({
        changes: [
          { ...gained, permission: 'auditor' },
          { ...gained, permission: 'domain-view' },
        ],
        count: 3,
        isComplete: true,
      })
      expect(authorizer.stats()).toEqual(before)
      const gone = await authorizer.insight.impact({ edits: [{ op: 'delete', tuple }], facts: FACTS, changesMax: 2 })
      expect(gone).toEqual({ changes: [], count: 0, isComplete: true })
    })

    it('refuses to preview what could not be written', async () => {
      await feed.start()
      const home = await addedDomain('home')
      const parent = {
        subject_type: 'platform',
        subject_id: 'main',
        subject_relation: '',
        relation: 'platform',
        resource_type: 'domain',
        resource_id: home,
        caveat_name: '',
        domain_id: home,
      }
      const refusal = (edit: object) => {
        const edits = [{ op: 'create' as const, tuple: { ...parent, ...edit } }]
        return refusalOf(() => authorizer.insight.impact({ edits, facts: FACTS, changesMax: 2 }))
      }
      expect(await refusal({})).toMatchObject({ code: 'invalid_triple', part: 'relation', reason: 'structural' })
      expect(await refusal({ relation: 'fly' })).toMatchObject({ part: 'relation', reason: 'unknown' })
      const group = { resource_type: 'group', relation: 'member', subject_type: 'group', subject_relation: 'member' }
      const within = { ...group, subject_id: home }
      expect(await refusal(within)).toMatchObject({ part: 'subject', reason: 'cycle' })
    })
  })
})
