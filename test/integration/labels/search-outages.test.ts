import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { withStaleChecks } from '../../../src/server/adapters/stale-checks/stale-checks.ts'
import { problem } from '../../../src/shared/problems.ts'
import { isEngineMissing } from '../../support/authz/engines.ts'
import { startSpicedb, type SpicedbServer } from '../../support/authz/spicedb-server.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startLabelTenancy, type LabelTenancy } from '../../support/labels/label-tenancy.ts'
import type { Answer } from '../../support/server/control-plane.ts'
import { START_MS } from '../../support/server/test-backend.ts'

const namesOf = ({ body }: Answer) => (body['items'] as readonly { readonly id: string }[]).map(({ id }) => id)
const codeOf = ({ status, body }: Answer) => [status, body['code']]

describe.each(STORES)('Searches and the lookup of what a caller may see, on the $name store', (store) => {
  describe.skipIf(store.missing)('that can be out of reach', () => {
    let isAway = false
    let lookups = 0
    let plane: LabelTenancy
    let domain: string
    const nodes: string[] = []
    let viewer: string

    beforeAll(async () => {
      plane = await startLabelTenancy(store, (backend) => {
        const away = <T>(ask: () => T): T => {
          if (isAway) throw problem('authz_unavailable')
          return ask()
        }
        const { authorizer, lookups: found } = backend
        const check = withStaleChecks(
          { ...authorizer, check: (query) => away(() => authorizer.check(query)) },
          { ttlMs: 30_000, entriesMax: 10_000 },
        )
        return {
          surfaces: ['objectSearch'],
          ports: {
            authorizer: check,
            lookups: {
              ...found,
              fewResources(query) {
                lookups++
                return away(() => found.fewResources(query))
              },
            },
          },
        }
      })
      domain = await plane.domain()
      for (let each = 0; each < 6; each++) nodes.push(await plane.node({ domainId: domain }))
      viewer = await plane.holder(domain, 'viewer', `node:${nodes[4]}`)
    })
    afterAll(() => plane.stop())
    beforeEach(() => {
      isAway = false
      lookups = 0
      plane.clock.nowMs = START_MS
    })

    const search = (as: string, members: object = {}) =>
      plane.call(as, 'POST /v1/objects/search', {
        selector: '*',
        kind: 'node',
        scope: 'domain',
        scope_id: domain,
        limit: 2,
        ...members,
      })

    it('asks for no lookup where the caller sees what matches, or where no other page follows', async () => {
      expect(namesOf(await search(plane.root))).toEqual(nodes.slice(0, 2))
      const stranger = await plane.principal(domain)
      expect(namesOf(await search(stranger, { limit: 200 }))).toEqual([])
      expect(lookups).toBe(0)
    })

    it('looks up again on each page, and remembers for a minute that this is worth it', async () => {
      const subject = await plane.holder(domain, 'viewer', `node:${nodes[3]}`)
      expect(namesOf(await search(subject))).toEqual([nodes[3]])
      expect(lookups).toBe(1)
      // The page is not read for nothing first, even where no other page would follow.
      expect(namesOf(await search(subject, { limit: 200 }))).toEqual([nodes[3]])
      expect(lookups).toBe(2)
      plane.clock.nowMs += 60_000
      expect(namesOf(await search(subject, { limit: 200 }))).toEqual([nodes[3]])
      expect(lookups).toBe(2)
    })

    it('answers from checks alone in an outage, as these may from memory: a lookup is never taken from memory', async () => {
      // Every row is checked, and the answers are remembered.
      expect(namesOf(await search(viewer, { limit: 200 }))).toEqual([nodes[4]])
      expect(lookups).toBe(0)
      isAway = true
      plane.clock.nowMs += 10_000
      const stale = await search(viewer, { limit: 5 })
      expect(namesOf(stale)).toEqual([nodes[4]])
      expect(stale.headers.get('x-service-degraded')).toMatch(/^authorization; since=/)
      expect(lookups).toBe(1)
    })

    it('is unavailable where the checks of its rows are, whether a lookup would be made or not', async () => {
      const [fresh, known] = [
        await plane.holder(domain, 'viewer', `node:${nodes[4]}`),
        await plane.holder(domain, 'viewer', `node:${nodes[5]}`),
      ]
      expect(namesOf(await search(known))).toEqual([nodes[5]])
      isAway = true
      plane.clock.nowMs += 31_000
      expect(codeOf(await search(fresh))).toEqual([503, 'authz_unavailable'])
      expect(codeOf(await search(known))).toEqual([503, 'authz_unavailable'])
      expect(codeOf(await search(plane.root))).toEqual([503, 'authz_unavailable'])
    })
  })

  describe.skipIf(store.missing || isEngineMissing('spicedb'))('with SpiceDB', () => {
    let server: SpicedbServer
    let plane: LabelTenancy
    beforeAll(async () => {
      server = await startSpicedb()
      plane = await startLabelTenancy(store, ['objectSearch'], server)
    })
    afterAll(async () => {
      await plane.stop()
      await server.close()
    })

    it('shows the same without gaps, and is unavailable while SpiceDB is', { timeout: 180_000 }, async () => {
      const domain = await plane.domain()
      const nodes: string[] = []
      for (let each = 0; each < 5; each++) nodes.push(await plane.node({ domainId: domain }))
      const viewer = await plane.holder(domain, 'viewer', `node:${nodes[3]}`)
      const asked = { selector: '*', kind: 'node', scope: 'domain', scope_id: domain, limit: 2 }
      const search = () => plane.call(viewer, 'POST /v1/objects/search', asked)
      const before = (await server.counts())['LookupResources'] ?? 0
      expect(namesOf(await search())).toEqual([nodes[3]])
      expect(namesOf(await search())).toEqual([nodes[3]])
      expect((await server.counts())['LookupResources']).toBe(before + 2)
      await server.stop()
      expect(codeOf(await search())).toEqual([503, 'authz_unavailable'])
      await server.start()
      await expect.poll(async () => (await search()).status, { timeout: 15_000 }).toBe(200)
      expect(namesOf(await search())).toEqual([nodes[3]])
    })
  })
})
