import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { withStaleChecks } from '../../src/server/adapters/stale-checks/stale-checks.ts'
import type { Authorizer } from '../../src/server/ports/authorizer.ts'
import { problem } from '../../src/shared/problems.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const SINCE = '2026-03-01T08:00:10.000Z'

describe.each(STORES)('Checks while the engine is out of reach, on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let isAway = false
    let tenancy: Tenancy
    let domainId: string
    let viewer: string
    beforeAll(async () => {
      tenancy = await startTenancy(store, (parts) => {
        const authorizer = withStaleChecks(
          awayWhen(parts.authorizer, () => isAway),
          { ttlMs: 30_000, entriesMax: 10_000 },
        )
        return { surfaces: ['authz', 'relationTuples'], ports: { authorizer } }
      })
      domainId = await tenancy.domain()
      viewer = await tenancy.holder(domainId, 'viewer', `domain:${domainId}`)
    })
    beforeEach(() => {
      isAway = false
      tenancy.clock.nowMs = START_MS
    })
    afterAll(() => tenancy.stop())

    const check = (subject: string, { as = viewer, ...more }: { as?: string; caveat_context?: object } = {}) =>
      tenancy.call(as, 'POST /v1/authz/check', { subject, relation: 'read', resource: `domain:${domainId}`, ...more })
    const codeOf = ({ status, body }: Answer) => [status, body['code'] ?? body['decision']]
    const degraded = ({ headers }: Answer) => headers.get('x-service-degraded')

    function outage(): void {
      isAway = true
      tenancy.clock.nowMs += 10_000
    }

    it('answers a check as it was answered last, says so, and audits it', async () => {
      const fresh = await check(viewer)
      expect([...codeOf(fresh), degraded(fresh)]).toEqual([200, 'allowed', null])
      outage()
      const stale = await check(viewer)
      expect(stale.body).toEqual({ ...fresh.body, correlation_id: stale.headers.get('x-correlation-id') })
      expect(degraded(stale)).toBe(`authorization; since=${SINCE}`)
      expect(await tenancy.audit(stale)).toMatchObject({
        relation: 'authz.check',
        object: `domain:${domainId}`,
        outcome: 'granted',
        reason: 'stale_cache',
        domainId,
      })
    })

    it('answers a denial as it was answered last', async () => {
      const nobody = await tenancy.principal(domainId)
      await check(nobody)
      outage()
      const stale = await check(nobody)
      expect(stale.body).toMatchObject({ decision: 'denied', reason: 'insufficient_relation' })
      expect(await tenancy.audit(stale)).toMatchObject({ outcome: 'permission_denied', reason: 'stale_cache' })
    })

    it('answers nothing that was not asked, that is too old, or that names facts', async () => {
      const [other, named] = [await tenancy.principal(domainId), { caveat_context: { now: null } }]
      await check(viewer)
      await check(viewer, named)
      outage()
      expect(codeOf(await check(other))).toEqual([503, 'authz_unavailable'])
      expect(codeOf(await check(viewer, named))).toEqual([503, 'authz_unavailable'])
      tenancy.clock.nowMs += 20_001
      expect(codeOf(await check(viewer))).toEqual([503, 'authz_unavailable'])
    })

    it('tells nothing to whom it may not be told, as of what nobody asked', async () => {
      const stranger = await tenancy.principal(await tenancy.domain())
      await check(viewer)
      expect(codeOf(await check(viewer, { as: stranger }))).toEqual([200, 'denied'])
      outage()
      const stale = await check(viewer, { as: stranger })
      expect([...codeOf(stale), degraded(stale)]).toEqual([503, 'authz_unavailable', null])
    })

    it('forgets a grant that was taken back', async () => {
      const subject = await tenancy.principal(domainId)
      const grant = await tenancy.call(tenancy.root, `POST /v1/domains/${domainId}/grants`, {
        subject,
        relation: 'viewer',
      })
      expect((await check(subject)).body['decision']).toBe('allowed')
      await tenancy.call(tenancy.root, `DELETE /v1/domains/${domainId}/grants/${String(grant.body['id'])}`)
      expect((await check(subject)).body['decision']).toBe('denied')
      outage()
      expect((await check(subject)).body['decision']).toBe('denied')
    })

    it('lets a gate of a read rest on it, never one of a change', async () => {
      const read = () => tenancy.call(tenancy.root, `GET /v1/domains/${domainId}`)
      const change = () => tenancy.call(tenancy.root, `PATCH /v1/domains/${domainId}`, { display_name: 'Another' })
      expect([(await read()).status, (await change()).status]).toEqual([200, 200])
      outage()
      const stale = await read()
      expect([stale.status, degraded(stale)]).toEqual([200, `authorization; since=${SINCE}`])
      expect(await tenancy.audit(stale)).toMatchObject({ outcome: 'granted', reason: 'stale_cache' })
      expect(codeOf(await change())).toEqual([503, 'authz_unavailable'])
    })

    it('keeps lookups and tuples out of it', async () => {
      const project = await tenancy.project(domainId)
      const lookup = { subject: viewer, relation: 'read', resource_type: 'domain' }
      const calls = () =>
        Promise.all([
          tenancy.call(tenancy.root, 'POST /v1/authz/lookup-resources', lookup),
          tenancy.call(tenancy.root, `POST /v1/authz/relation-tuples?project_id=${project}`, {
            subject: 'user:*',
            relation: 'viewer',
            resource: `project:${project}`,
          }),
        ])
      await calls()
      outage()
      expect((await calls()).map(codeOf)).toEqual([
        [503, 'authz_unavailable'],
        [503, 'authz_unavailable'],
      ])
    })
  })
})

/** The engine, and at times its absence. */
function awayWhen<A extends Authorizer>(authorizer: A, isAway: () => boolean): A {
  function reach<T>(ask: () => T): T {
    if (isAway()) throw problem('authz_unavailable')
    return ask()
  }
  return {
    ...authorizer,
    check: (query) => reach(() => authorizer.check(query)),
    domainOf: (reference) => reach(() => authorizer.domainOf(reference)),
  }
}
