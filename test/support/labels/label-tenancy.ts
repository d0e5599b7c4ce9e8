import type { Db } from '../../../src/server/ports/datastore.ts'
import type { ValueSchema } from '../../../src/shared/labels/schema-types.ts'
import type { LabelValue } from '../../../src/shared/selectors/definition.ts'
import { START_MS } from '../server/test-backend.ts'
import { startTenancy, type Tenancy } from '../server/tenancy.ts'
import type { TestStore } from '../datastores/stores.ts'
import type { SpicedbServer } from '../authz/spicedb-server.ts'
import type { Making, UnderTest } from '../server/control-plane.ts'
import type { SurfaceName } from '../../../src/server/http/slice.ts'

interface DefinitionMembers {
  readonly type?: ValueSchema['type']
  readonly inherit?: boolean
}

/** A tenancy with label Definitions and labels that are written as rows, whose nodes hang off their places. */
export interface LabelTenancy extends Tenancy {
  /** Defines a label in a scope: `platform`, `domain:<id>` or `project:<id>`. Returns the id of the Definition. */
  define(scope: string, localKey: string, members?: DefinitionMembers): Promise<string>
  /** Puts labels on an object, by qualified key. */
  label(object: string, labels: Readonly<Record<string, LabelValue>>): Promise<void>
}

export async function startLabelTenancy(
  store: TestStore,
  served: readonly SurfaceName[] | Exclude<Making, UnderTest>,
  spicedb?: SpicedbServer,
): Promise<LabelTenancy> {
  const tenancy = await startTenancy(store, typeof served === 'function' ? served : { surfaces: served }, spicedb)
  const { db, ids, change } = tenancy
  const at = new Date(START_MS)
  const times = { created_at: at, updated_at: at }

  return {
    ...tenancy,
    async node(inPlace) {
      const id = await tenancy.node(inPlace)
      const { domainId, projectId = null } = inPlace
      const silent = { created_at: at, accepted_at: null, healthy_since: null }
      const beat = { node_id: id, ...silent, binary_version: null, binary_checksum: null }
      await db.insertInto('node_heartbeats').values(beat).execute()
      const edges = [['domain', domainId] as const, ...(projectId === null ? [] : [['project', projectId] as const])]
      await change(async ({ tuples }) => {
        for (const [kind, parent] of edges) {
          const edge = { subject: `${kind}:${parent}`, relation: kind, resource: `node:${id}` }
          await tuples.createStructural(edge, { domainId, projectId })
        }
      })
      return id
    },
    async define(scope, localKey, { type = 'string', inherit = false } = {}) {
      const id = ids.next()
      const place = await placeOf(db, scope)
      const scopeKind = kindOf(scope)
      await db
        .insertInto('label_definitions')
        .values({
          id,
          scope_kind: scopeKind,
          ...place,
          local_key: localKey,
          qualified_key: `${scope}/${localKey}`,
          description: '',
          value_schema: JSON.stringify({ type }),
          on_delete: 'block',
          immutable: false,
          inherit,
          kinds: [],
          system: false,
          granted: true,
          ...times,
        })
        .execute()
      const subject = scope === 'platform' ? 'platform:main' : scope
      await change(({ tuples }) =>
        tuples.createStructural(
          { subject, relation: scopeKind, resource: `labeldefinition:${id}` },
          { domainId: place.domain_id, projectId: place.project_id },
        ),
      )
      return id
    },
    async label(object, labels) {
      const [kind = '', objectId = ''] = object.split(':')
      for (const [key, value] of Object.entries(labels)) {
        const definition = await db
          .selectFrom('label_definitions')
          .select(['id', 'value_schema'])
          .where('qualified_key', '=', key)
          .executeTakeFirstOrThrow()
        await db
          .insertInto('label_assignments')
          .values({
            kind,
            object_id: objectId,
            qualified_key: key,
            definition_id: definition.id,
            value: String(value),
            value_type: definition.value_schema.type,
            number: typeof value === 'number' ? String(value) : null,
            assigned_by: 'user:test',
            ...times,
          })
          .execute()
      }
    },
  }
}

function kindOf(scope: string): 'platform' | 'domain' | 'project' {
  if (scope === 'platform') return 'platform'
  return scope.startsWith('domain:') ? 'domain' : 'project'
}

async function placeOf(db: Db, scope: string) {
  const id = scope.slice(scope.indexOf(':') + 1)
  if (scope === 'platform') return { domain_id: null, project_id: null }
  if (scope.startsWith('domain:')) return { domain_id: id, project_id: null }
  const { domain_id } = await db
    .selectFrom('projects')
    .select('domain_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { domain_id, project_id: id }
}
