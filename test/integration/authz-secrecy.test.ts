import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuthzInsight } from '../../src/server/ports/authz-insight.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { depth } from '../support/run/depth.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

/** An engine that tells all that it can of what exists, so that only the surface keeps it secret. */
const talkative = (exists: (reference: string) => boolean): AuthzInsight => ({
  explain: ({ subject, relation, resource }) => {
    const grant = { subject, relation: 'viewer', resource }
    const tuple = { kind: 'tuple', outcome: 'denied', object: resource, name: 'viewer', subject, parts: [] } as const
    const parts = exists(resource) && exists(subject) ? [tuple] : []
    const tree = { kind: 'permission', outcome: 'denied', object: resource, name: relation, parts } as const
    return { outcome: 'denied', tree, remedies: parts.length > 0 ? [[grant]] : [] }
  },
  impact: () => ({ changes: [], count: 0, isComplete: true }),
})

/** A question about one object, asked twice: of one that exists and one that does not. */
type Ask = (id: string) => { readonly operation: string; readonly body?: unknown }

const TYPES = ['domain', 'project', 'resource', 'network', 'node', 'user', 'serviceaccount', 'group'] as const
type Type = (typeof TYPES)[number]

describe.each(STORES)('What a caller may not see, on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let home: string
    let project: string
    /** Holds nothing at all, in the Domain `home`. */
    let nobody: string
    /** Administers a Project of `home`, and nothing else. */
    let projectAdmin: string
    /** Objects of another Domain, and of `home` where nobody may read them, by type. */
    let abroad: Readonly<Record<Type, string>>
    let unreadable: Readonly<Record<'project' | 'resource' | 'network', string>>
    beforeAll(async () => {
      const known = new Set<string>()
      tenancy = await startTenancy(store, {
        surfaces: ['authz', 'relationTuples'],
        ports: { insight: talkative((reference) => known.has(reference)) },
      })
      home = await tenancy.domain()
      nobody = await tenancy.principal(home)
      project = await tenancy.project(home)
      projectAdmin = await tenancy.holder(home, 'admin', `project:${project}`)
      const domain = await tenancy.domain()
      const elsewhere = await tenancy.project(domain)
      const network = await resource(elsewhere)
      abroad = {
        domain,
        project: elsewhere,
        resource: network,
        network,
        node: await tenancy.node({ domainId: domain, projectId: elsewhere }),
        user: idOf(await tenancy.principal(domain)),
        serviceaccount: idOf(await tenancy.principal(domain, 'service-identity')),
        group: await tenancy.group(domain),
      }
      const hidden = await tenancy.project(home)
      const inHidden = await resource(hidden)
      unreadable = { project: hidden, resource: inHidden, network: inHidden }
      for (const [type, id] of [...Object.entries(abroad), ...Object.entries(unreadable)]) known.add(`${type}:${id}`)
      known.add(nobody)
      // Whoever looks abroad finds something there.
      const { change } = tenancy
      await change(async ({ tuples }) => {
        for (const type of ['project', 'resource', 'network'] as const) {
          const tuple = { subject: `user:${abroad.user}`, relation: 'viewer', resource: `${type}:${abroad[type]}` }
          await tuples.create(tuple, { domainId: domain, projectId: elsewhere })
        }
      })
    })
    afterAll(() => tenancy.stop())

    const idOf = (subject: string): string => subject.slice(subject.indexOf(':') + 1)

    async function resource(projectId: string): Promise<string> {
      const body = { kind: 'network', slug: `r-${tenancy.ids.next()}`, display_name: 'A network' }
      const answer = await tenancy.call(tenancy.root, `POST /v1/projects/${projectId}/resources`, body)
      return String(answer.body['id'])
    }

    const question = (subject: string, relation: string, resourceAsked: string) => ({
      subject,
      relation,
      resource: resourceAsked,
    })
    const relations = fc.constantFrom('read', 'manage')

    /** Everything of an answer but the names that were asked and what differs from one request to the next. */
    function shown({ status, headers, body }: Answer, id: string): unknown {
      const { correlation_id: _, ...members } = body
      return [status, headers.get('content-type'), JSON.stringify(members).replaceAll(id, 'ID')]
    }

    async function compare(as: string, existing: string, ask: Ask): Promise<void> {
      const missing = tenancy.ids.next()
      const [of, without] = await Promise.all(
        [existing, missing].map(async (id) => {
          const { operation, body } = ask(id)
          return shown(await tenancy.call(as, operation, body), id)
        }),
      )
      expect(of).toEqual(without)
    }

    /** Questions over the authorization surface about an object of a type, as subject or as resource. */
    const surfaceAsks = (type: Type, relation: string): readonly Ask[] => [
      (id) => ({ operation: 'POST /v1/authz/check', body: question(nobody, relation, `${type}:${id}`) }),
      (id) => ({ operation: 'POST /v1/authz/explain', body: question(nobody, relation, `${type}:${id}`) }),
      (id) => ({
        operation: 'POST /v1/authz/lookup-subjects',
        body: { subject_type: 'user', relation, resource: `${type}:${id}` },
      }),
      (id) => ({ operation: 'POST /v1/authz/check', body: question(`${type}:${id}`, relation, `project:${project}`) }),
      (id) => ({
        operation: 'POST /v1/authz/explain',
        body: question(`${type}:${id}`, relation, `project:${project}`),
      }),
      (id) => ({
        operation: 'POST /v1/authz/lookup-resources',
        body: { subject: `${type}:${id}`, relation, resource_type: 'project' },
      }),
    ]

    it('is in every answer of the authorization surface as what does not exist', async () => {
      const cases = fc.tuple(fc.constantFrom(...TYPES), relations, fc.nat({ max: 5 }), fc.boolean())
      await fc.assert(
        fc.asyncProperty(cases, async ([type, relation, index, isAdmin]) => {
          const ask = surfaceAsks(type, relation)[index]
          if (ask !== undefined) await compare(isAdmin ? projectAdmin : nobody, abroad[type], ask)
        }),
        { numRuns: depth({ ci: 120, deep: 2000 }) },
      )
    })

    it('is in every explanation of a denial hidden, in the own Domain too', async () => {
      const cases = fc.tuple(fc.constantFrom('project', 'resource', 'network'), relations)
      await fc.assert(
        fc.asyncProperty(cases, async ([type, relation]) => {
          await compare(nobody, unreadable[type], (id) => ({
            operation: 'POST /v1/authz/explain',
            body: question(nobody, relation, `${type}:${id}`),
          }))
        }),
        { numRuns: depth({ ci: 20, deep: 200 }) },
      )
    })

    it('is refused as what does not exist, in body and path alike', async () => {
      const wanted = { subject: 'user:*', relation: 'viewer' }
      const onDomain: readonly Ask[] = [
        (id) => ({ operation: `GET /v1/domains/${id}` }),
        (id) => ({ operation: `PATCH /v1/domains/${id}`, body: { display_name: 'x' } }),
        (id) => ({ operation: `GET /v1/domains/${id}/grants` }),
        (id) => ({ operation: `POST /v1/domains/${id}/grants`, body: wanted }),
        (id) => ({
          operation: 'POST /v1/authz/impact',
          body: { edits: [{ kind: 'grant', op: 'create', ...wanted, subject: nobody, resource: `domain:${id}` }] },
        }),
      ]
      const onProject: readonly Ask[] = [
        (id) => ({ operation: `GET /v1/projects/${id}` }),
        (id) => ({ operation: `GET /v1/authz/relation-tuples?project_id=${id}` }),
        (id) => ({
          operation: `POST /v1/authz/relation-tuples?project_id=${id}`,
          body: { ...wanted, resource: `project:${id}` },
        }),
        (id) => ({
          operation: 'POST /v1/authz/relation-tuples/bulk',
          body: { tuples: [{ project_id: id, ...wanted, resource: `project:${id}` }] },
        }),
        (id) => ({
          operation: 'POST /v1/authz/impact',
          body: { edits: [{ kind: 'tuple', op: 'create', project_id: id, ...wanted, resource: `project:${id}` }] },
        }),
      ]
      for (const ask of onDomain) await compare(nobody, abroad.domain, ask)
      for (const ask of onProject) {
        await compare(nobody, abroad.project, ask)
        await compare(nobody, unreadable.project, ask)
      }
    })

    it('cannot be found by binding it, nor by binding to it', async () => {
      const binding = (subject: string, resourceBound: string): ReturnType<Ask> => ({
        operation: `POST /v1/authz/relation-tuples?project_id=${project}`,
        body: { subject, relation: 'viewer', resource: resourceBound },
      })
      const to =
        (type: Type): Ask =>
        (id) =>
          binding('user:*', `${type}:${id}`)
      for (const type of ['project', 'resource', 'network', 'node'] as const) {
        await compare(projectAdmin, abroad[type], to(type))
        if (type !== 'node') await compare(projectAdmin, unreadable[type], to(type))
      }
      const boundTo = `project:${project}`
      await compare(projectAdmin, abroad.user, (id) => binding(`user:${id}`, boundTo))
      await compare(projectAdmin, abroad.serviceaccount, (id) => binding(`serviceaccount:${id}`, boundTo))
      await compare(projectAdmin, abroad.group, (id) => binding(`group:${id}#member`, boundTo))
    })

    it('is not among what lookups find, unless the caller reads the platform', async () => {
      const lookup = { subject: tenancy.root, relation: 'manage', resource_type: 'project' }
      const found = async (as: string, path: string, body: unknown) =>
        (await tenancy.call(as, `POST /v1/authz/${path}`, body)).body['items']
      const all = await found(tenancy.root, 'lookup-resources', lookup)
      expect(all).toEqual([`project:${project}`, `project:${abroad.project}`, `project:${unreadable.project}`])
      // The administrator belongs to a Domain of its own: to others it is a stranger.
      expect(await found(nobody, 'lookup-resources', lookup)).toEqual([])
      const guest = await tenancy.principal(home)
      await tenancy.change(({ tuples }) =>
        tuples.create(
          { subject: guest, relation: 'viewer', resource: `project:${abroad.project}` },
          { domainId: abroad.domain, projectId: abroad.project },
        ),
      )
      const own = { subject: guest, relation: 'read', resource_type: 'project' }
      expect(await found(nobody, 'lookup-resources', own)).toEqual([])
      expect(await found(tenancy.root, 'lookup-resources', own)).toEqual([`project:${abroad.project}`])
      const who = { subject_type: 'user', relation: 'manage', resource: `project:${project}` }
      expect(await found(nobody, 'lookup-subjects', who)).toEqual([projectAdmin])
      expect(await found(tenancy.root, 'lookup-subjects', who)).toEqual([tenancy.root, projectAdmin])
    })
  })
})
