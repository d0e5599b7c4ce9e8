import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { startLabelTenancy, type LabelTenancy } from '../../support/labels/label-tenancy.ts'

const UNKNOWN = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

type Members = Readonly<Record<string, unknown>>

interface Item extends Members {
  readonly kind: string
  readonly id: string
}

describe.each(STORES)('Search and previews on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let plane: LabelTenancy
    let domain: string
    let project: string
    const nodes: string[] = []
    const resources: Record<string, string> = {}

    beforeAll(async () => {
      plane = await startLabelTenancy(store, ['objectSearch'])
      domain = await plane.domain()
      project = await plane.project(domain)
      for (let each = 0; each < 6; each++)
        nodes.push(await plane.node({ domainId: domain, ...(each >= 4 && { projectId: project }) }))
      for (const kind of ['bridge', 'network', 'workload']) {
        const made = await plane.call(plane.root, `POST /v1/projects/${project}/resources`, {
          kind,
          slug: kind,
          display_name: `The ${kind}`,
        })
        resources[kind] = String(made.body['id'])
      }
      await plane.define('platform', 'stage', { inherit: true })
      await plane.define('platform', 'size', { type: 'integer' })
      await plane.define(`domain:${domain}`, 'tier')
      await plane.define(`project:${project}`, 'tier')
      await plane.define(`domain:${domain}`, 'live', { type: 'boolean' })
      await plane.label(`project:${project}`, { 'platform/stage': 'prod' })
      for (const [at, node] of nodes.entries()) {
        const own = { [`domain:${domain}/tier`]: at % 2 === 0 ? 'web' : 'db', 'platform/size': at }
        await plane.label(`node:${node}`, own)
      }
      await plane.label(`node:${nodes[5]}`, { 'platform/stage': 'dev', [`domain:${domain}/live`]: true })
      await plane.label(`resource:${resources['network']}`, { [`project:${project}/tier`]: 'web' })
    })
    afterAll(() => plane.stop())

    const search = (members: Members, as = plane.root) =>
      plane.call(as, 'POST /v1/objects/search', { scope: 'platform', ...members })
    const itemsOf = ({ body }: { readonly body: Members }) => body['items'] as readonly Item[]
    const namesOf = (answer: { readonly body: Members }) => itemsOf(answer).map(({ kind, id }) => `${kind}:${id}`)
    const inDomain = () => ({ scope: 'domain', scope_id: domain })
    const refusal = (answer: { status: number; body: Members }) => [answer.status, answer.body['code']]

    async function walk(members: Members, as = plane.root) {
      const pages: string[][] = []
      let cursor: unknown
      do {
        const answer = await search({ ...members, ...(cursor !== undefined && { cursor }) }, as)
        expect(answer.status, JSON.stringify(answer.body)).toBe(200)
        pages.push(namesOf(answer))
        cursor = answer.body['next_cursor'] ?? undefined
      } while (cursor !== undefined)
      return pages
    }

    describe('SearchObjectsByLabel', () => {
      it('shows name, place and effective labels of the keys that the selector names, and no other labels', async () => {
        const answer = await search({ selector: 'stage=dev,tier,size>0', ...inDomain() })
        expect(itemsOf(answer)).toEqual([
          {
            kind: 'node',
            id: nodes[5],
            display_name: expect.stringMatching(/^node-\d+$/),
            domain_id: domain,
            project_id: project,
            labels: { 'platform/stage': 'dev', [`domain:${domain}/tier`]: 'db', 'platform/size': 5 },
          },
        ])
        const inherited = await search({ selector: 'stage=prod', kind: 'node' })
        expect(itemsOf(inherited)).toMatchObject([{ id: nodes[4], labels: { 'platform/stage': 'prod' } }])
        const typed = await search({ selector: `domain:${domain}/live=true` })
        expect(itemsOf(typed)[0]?.['labels']).toEqual({ [`domain:${domain}/live`]: true })
      })

      it('orders by kind and id, and shows networks and workloads as resources unless they are asked for', async () => {
        const all = namesOf(await search({ selector: 'stage=prod', limit: 200 }))
        expect(all).toEqual([
          `node:${nodes[4]}`,
          `project:${project}`,
          ...Object.values(resources)
            .toSorted()
            .map((id) => `resource:${id}`),
        ])
        expect(namesOf(await search({ selector: 'stage=prod', kind: 'network' }))).toEqual([
          `network:${resources['network']}`,
        ])
        expect(namesOf(await search({ selector: 'stage', kind: 'workload' }))).toEqual([
          `workload:${resources['workload']}`,
        ])
        expect(itemsOf(await search({ selector: 'stage', kind: 'network' }))[0]?.['display_name']).toBe('The network')
      })

      it('means the nearest Definition by a bare key: of the Project, then of the Domain', async () => {
        const asked = { selector: 'tier=web' }
        expect(namesOf(await search({ ...asked, scope: 'project', scope_id: project }))).toEqual([
          `resource:${resources['network']}`,
        ])
        expect(namesOf(await search({ ...asked, ...inDomain() }))).toEqual(
          [nodes[0], nodes[2], nodes[4]].map((id) => `node:${id}`),
        )
        expect(refusal(await search(asked))).toEqual([400, 'invalid_selector'])
      })

      it('shows what a caller may see without gaps where that is little, on pages of any size and in the same order', async () => {
        const viewer = await plane.holder(domain, 'viewer', `node:${nodes[3]}`)
        await plane.change(({ tuples }) =>
          tuples.create(
            { subject: viewer, relation: 'viewer', resource: `node:${nodes[5]}` },
            { domainId: domain, projectId: null },
          ),
        )
        const asked = { selector: '*', kind: 'node', ...inDomain() }
        const [third, fifth] = [`node:${nodes[3]}`, `node:${nodes[5]}`]
        // The first page shows less than half of its rows, which is why what the caller may see is looked up.
        expect(await walk({ ...asked, limit: 2 }, viewer)).toEqual([[third, fifth]])
        expect(await walk({ ...asked, limit: 1 }, viewer)).toEqual([[third], [fifth]])
        expect(await walk({ ...asked, kind: undefined, limit: 1 }, viewer)).toEqual([[third], [fifth], [viewer]])
        const pages = await walk({ ...asked, limit: 4 })
        expect(pages.map(({ length }) => length)).toEqual([4, 2])
        expect(pages.flat()).toEqual(nodes.map((id) => `node:${id}`))
      })

      it('shows at once what is granted after the look-up, and hides at once what is revoked', async () => {
        const viewer = await plane.holder(domain, 'viewer', `node:${nodes[3]}`)
        const asked = { selector: '*', kind: 'node', ...inDomain(), limit: 1 }
        expect(await walk(asked, viewer)).toEqual([[`node:${nodes[3]}`]])
        const place = { domainId: domain, projectId: null }
        const grant = { subject: viewer, relation: 'viewer', resource: `node:${nodes[1]}` }
        const made = await plane.change(({ tuples }) => tuples.create(grant, place))
        expect(await walk(asked, viewer)).toEqual([[`node:${nodes[1]}`], [`node:${nodes[3]}`]])
        await plane.change(({ tuples }) => tuples.delete(made?.id ?? ''))
        expect(await walk(asked, viewer)).toEqual([[`node:${nodes[3]}`]])
      })

      it('filters by the requested relation, and shows nothing of kinds that do not have it', async () => {
        const operator = await plane.holder(domain, 'operator', `node:${nodes[2]}`)
        const asked = { selector: '*', ...inDomain(), limit: 200 }
        expect(namesOf(await search({ ...asked, relation: 'node-operate' }, operator))).toEqual([`node:${nodes[2]}`])
        expect(namesOf(await search({ ...asked, relation: 'node-operate' }))).toEqual(nodes.map((id) => `node:${id}`))
        expect(namesOf(await search({ ...asked, relation: 'no-such-relation' }))).toEqual([])
        expect(namesOf(await search({ ...asked, relation: 'manage' }, operator))).toEqual([])
      })

      it('treats Definitions that the caller may neither read nor assign as unknown keys', async () => {
        const viewer = await plane.holder(domain, 'viewer', `node:${nodes[0]}`)
        const answer = await search({ selector: `size>=1,domain:${domain}/tier=web` }, viewer)
        expect(answer.status).toBe(400)
        const stranger = await search({ selector: `size,domain:${domain}/tier=web` }, viewer)
        expect(stranger.body['errors']).toMatchObject([
          { code: 'unknown_key', offset: 0, length: 4 },
          { code: 'unknown_key', offset: 5 },
        ])
        const unknown = await search({ selector: `size,domain:${UNKNOWN}/tier=web` }, viewer)
        const codes = (of: typeof unknown) =>
          (of.body['errors'] as readonly Members[]).map(({ code, offset, length, expected }) => ({
            code,
            offset,
            length,
            expected,
          }))
        expect(codes(stranger)).toEqual(codes(unknown))
        const reader = await plane.holder(domain, 'viewer', `domain:${domain}`)
        expect(namesOf(await search({ selector: `domain:${domain}/tier=web` }, reader))).toHaveLength(3)
      })

      it('answers with an empty page where the scope does not exist or shows nothing to the caller', async () => {
        const stranger = await plane.principal(plane.home)
        for (const scope of ['domain', 'project']) {
          const empty = { items: [], next_cursor: null }
          expect((await search({ selector: '*', scope, scope_id: UNKNOWN }, stranger)).body).toEqual(empty)
        }
        expect((await search({ selector: '*', ...inDomain() }, stranger)).body).toEqual({
          items: [],
          next_cursor: null,
        })
      })

      it('reports every error of a selector with its place in bytes', async () => {
        const answer = await search({ selector: 'stage="é🙂,tier=web' })
        expect(answer.status).toBe(400)
        expect(answer.body).toMatchObject({
          code: 'invalid_selector',
          errors: [{ code: 'unterminated_string', offset: 6, length: 16 }],
        })
        const several = await search({ selector: 'stge=prod,stage<3,=,size=big', ...inDomain() })
        expect(several.body['errors']).toMatchObject([
          { code: 'unknown_key', offset: 0, length: 4, expected: ['stage'] },
          { code: 'wrong_type', offset: 15, length: 1 },
          { code: 'unexpected_token', offset: 18, length: 1 },
          { code: 'wrong_type', offset: 25, length: 3 },
        ])
        expect((await search({ selector: '' })).body['errors']).toMatchObject([{ code: 'empty', offset: 0 }])
        expect((await search({ selector: `stage=${'x'.repeat(4_091)}` })).body['errors']).toMatchObject([
          { code: 'too_long' },
        ])
      })

      it.each([
        ['invalid_scope', { scope: 'domain' }],
        ['invalid_scope', { scope: 'project' }],
        ['invalid_scope', { scope: 'platform', scope_id: UNKNOWN }],
        ['invalid_scope', { scope: 'cluster' }],
        ['invalid_scope', { scope: 'domain', scope_id: '00000000-0000-0000-0000-000000000000' }],
        ['invalid_scope', { scope: 'domain', scope_id: '-'.repeat(36) }],
        ['invalid_kind', { kind: 'token' }],
        ['invalid_limit', { limit: 0 }],
        ['invalid_limit', { limit: 201 }],
        ['invalid_limit', { limit: '1' }],
        ['invalid_cursor', { cursor: 'AAAA' }],
        ['invalid_body', { relation: 'Read it' }],
        ['invalid_body', { selector: 1 }],
      ])('refuses with %s the members %o', async (code, members) => {
        expect(refusal(await search({ selector: '*', ...members }))).toEqual([400, code])
      })

      it('takes the cursor of the same question alone', async () => {
        const first = await search({ selector: '*', kind: 'node', ...inDomain(), limit: 1 })
        const cursor = first.body['next_cursor']
        const again = { selector: '*', kind: 'node', ...inDomain(), cursor }
        expect((await search(again)).status).toBe(200)
        for (const other of [{ selector: 'stage' }, { kind: 'group' }, { relation: 'manage' }])
          expect(refusal(await search({ ...again, ...other }))).toEqual([400, 'invalid_cursor'])
      })

      it('leaves no audit row', async () => {
        expect(await plane.audit(await search({ selector: '*' }))).toBeUndefined()
      })
    })

    describe('PreviewLabelSelector', () => {
      const preview = (members: Members, as = plane.root) =>
        plane.call(as, 'POST /v1/labels/selectors/preview', members)

      it('shows the canonical form, the requirements, counts by kind and a sample', async () => {
        const answer = await preview({ selector: ' stage in ("prod", prod) , !size' })
        expect(answer.body).toEqual({
          canonical: '!platform/size,platform/stage=prod',
          requirements: [
            { key: 'platform/stage', op: 'in', values: ['prod', 'prod'], definition_id: expect.any(String) },
            { key: 'platform/size', op: 'absent', values: [], definition_id: expect.any(String) },
          ],
          errors: [],
          counts: { project: 1, resource: 3 },
          complete: true,
          sample: expect.any(Array),
        })
        expect(namesOf({ body: { items: answer.body['sample'] } })).toEqual([
          `project:${project}`,
          ...Object.values(resources)
            .toSorted()
            .map((id) => `resource:${id}`),
        ])
        const ofKind = await preview({ selector: 'stage=prod', scope: 'domain', scope_id: domain, kind: 'network' })
        expect(ofKind.body['counts']).toEqual({ network: 1 })
      })

      it('answers a selector with errors, and refuses a malformed body', async () => {
        const answer = await preview({ selector: 'stage=' })
        expect([answer.status, answer.body]).toEqual([
          200,
          {
            canonical: null,
            requirements: [],
            errors: [
              { code: 'unexpected_token', offset: 6, length: 0, message: expect.any(String), expected: ['value'] },
            ],
            counts: {},
            complete: true,
            sample: [],
          },
        ])
        expect(refusal(await preview({ selector: 3 }))).toEqual([400, 'invalid_body'])
        expect(refusal(await preview({ selector: '*', scope: 'domain' }))).toEqual([400, 'invalid_scope'])
        expect(refusal(await preview({ selector: '*', scope_id: domain }))).toEqual([400, 'invalid_scope'])
      })

      it('needs read on the platform', async () => {
        const reader = await plane.holder(domain, 'viewer', `domain:${domain}`)
        expect(refusal(await preview({ selector: '*' }, reader))).toEqual([403, 'permission_denied'])
      })
    })

    describe('PreviewDomainSelector', () => {
      const preview = (members: Members, as: string, of = domain) =>
        plane.call(as, `POST /v1/domains/${of}/labels/selectors/preview`, members)

      it('counts exactly what a search shows whoever may read the Domain', async () => {
        const reader = await plane.holder(domain, 'viewer', `domain:${domain}`)
        const answer = await preview({ selector: '*' }, reader)
        const shown = await search({ selector: '*', ...inDomain(), limit: 200 }, reader)
        const counts: Record<string, number> = {}
        for (const { kind } of itemsOf(shown)) counts[kind] = (counts[kind] ?? 0) + 1
        expect(Object.keys(counts)).toEqual(expect.arrayContaining(['domain', 'node', 'project', 'resource', 'user']))
        expect(answer.body['counts']).toEqual(counts)
        expect(answer.body['sample']).toHaveLength(Math.min(20, itemsOf(shown).length))
      })

      it('reads bare keys from the Domain, or from a Project of it', async () => {
        const ofDomain = await preview({ selector: 'tier=web' }, plane.root)
        expect(ofDomain.body).toMatchObject({ canonical: `domain:${domain}/tier=web`, counts: { node: 3 } })
        const ofProject = await preview({ selector: 'tier=web', project_id: project }, plane.root)
        expect(ofProject.body).toMatchObject({ canonical: `project:${project}/tier=web`, counts: { resource: 1 } })
      })

      it('refuses strangers, and a Project of another Domain', async () => {
        const stranger = await plane.principal(plane.home)
        expect(refusal(await preview({ selector: '*' }, stranger))).toEqual([403, 'permission_denied'])
        const elsewhere = await plane.domain()
        const other = await preview({ selector: '*', project_id: project }, plane.root, elsewhere)
        expect(refusal(other)).toEqual([404, 'project_not_found'])
      })
    })
  })
})
