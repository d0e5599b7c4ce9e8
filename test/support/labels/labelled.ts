import type { SurfaceName } from '../../../src/server/http/slice.ts'
import type { TestStore } from '../datastores/stores.ts'
import type { SpicedbServer } from '../authz/spicedb-server.ts'
import type { Answer } from '../server/control-plane.ts'
import { startTenancy, type Tenancy } from '../server/tenancy.ts'

/** A tenancy with the label registry, whose seeds are granted. */
export interface Labelled extends Tenancy {
  /** Defines a label as the platform administrator, text by default; gives its id. */
  define(scope: string, localKey: string, members?: object): Promise<string>
  /** Puts a label on `<kind>/<id>`, as the platform administrator by default. */
  put(object: string, qualifiedKey: string, value: unknown, as?: string): Promise<Answer>
  /** Does so, and throws where it is refused. */
  label(object: string, qualifiedKey: string, value: unknown): Promise<void>
  /** Own labels of `<kind>/<id>`, or the effective ones, as `key=value`. */
  labelsOf(object: string, view?: 'own' | 'effective'): Promise<string[]>
  /** Literals and payloads of the outbox rows of a request. */
  announced(of: Answer): Promise<unknown[]>
  /** A new node with its parent edges, by id. */
  member(place: { readonly domainId: string; readonly projectId?: string }): Promise<string>
  /** A new resource of a Project, by id. */
  resource(projectId: string, kind?: string): Promise<string>
}

/** Starts it on a store of its own. */
export async function startLabelled(
  store: TestStore,
  { surfaces = [], spicedb }: { readonly surfaces?: readonly SurfaceName[]; readonly spicedb?: SpicedbServer } = {},
): Promise<Labelled> {
  const tenancy = await startTenancy(store, { surfaces: ['labels', ...surfaces] }, spicedb)
  await tenancy.runJob('label-definition-tuples')
  const root = (operation: string, body?: unknown) => tenancy.call(tenancy.root, operation, body)
  return {
    ...tenancy,
    async define(scope, localKey, members = {}) {
      const body = { scope, local_key: localKey, value_schema: { type: 'string' }, ...members }
      const { status, body: answer } = await root('POST /v1/label-definitions', body)
      if (status !== 201) throw new Error(JSON.stringify(answer))
      return String(answer['id'])
    },
    put: (object, qualifiedKey, value, as = tenancy.root) =>
      tenancy.call(as, `PUT /v1/objects/${object}/labels`, { qualified_key: qualifiedKey, value }),
    async label(object, qualifiedKey, value) {
      const { status, body } = await root(`PUT /v1/objects/${object}/labels`, { qualified_key: qualifiedKey, value })
      if (status !== 200) throw new Error(JSON.stringify(body))
    },
    async labelsOf(object, view = 'own') {
      const { status, body } = await root(`GET /v1/objects/${object}/labels?view=${view}`)
      if (status !== 200) throw new Error(JSON.stringify(body))
      const items = body['items'] as readonly Readonly<Record<string, unknown>>[]
      return items.map((label) => `${String(label['qualified_key'])}=${String(label['value'])}`)
    },
    async announced(of) {
      const rows = await tenancy.outbox(of)
      return rows.map(({ event, payload }) => [event, payload])
    },
    async member({ domainId, projectId }) {
      const id = await tenancy.node({ domainId, ...(projectId !== undefined && { projectId }) })
      const [resource, place] = [`node:${id}`, { domainId, projectId: projectId ?? null }]
      await tenancy.change(async ({ tuples }) => {
        await tuples.createStructural({ subject: `domain:${domainId}`, relation: 'domain', resource }, place)
        if (projectId === undefined) return
        await tuples.createStructural({ subject: `project:${projectId}`, relation: 'project', resource }, place)
      })
      return id
    },
    async resource(projectId, kind = 'workload') {
      const body = { slug: `r-${tenancy.ids.next()}`, display_name: 'A resource', kind }
      const { status, body: answer } = await root(`POST /v1/projects/${projectId}/resources`, body)
      if (status !== 201) throw new Error(JSON.stringify(answer))
      return String(answer['id'])
    },
  }
}

/** Status and code of an answer, and the reason where it has one. */
export function refusalOf({ status, body }: Answer): readonly unknown[] {
  return [status, body['code'], ...(body['reason'] === undefined ? [] : [body['reason']])]
}
