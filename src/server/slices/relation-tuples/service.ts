import { referencesOf } from '../../../shared/authz/tuple.ts'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import { parseReference } from '../../../shared/ids.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import type { relationTuples } from '../../../shared/contract/relation-tuples.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { AdmittedTuple, WantedTuple } from '../../ports/tuple-admission.ts'
import { storedTuple } from '../../ports/stored-tuple.ts'
import type { Change, StoredTuple, UnitOfWork } from '../../ports/unit-of-work.ts'
import { byId } from '../../sql/keyset.ts'
import type { Admission } from './admission.ts'
import { createAll, requireEveryProject } from './bulk.ts'
import * as store from './store.ts'
import { toAnswer } from './tuple.ts'

export interface RelationTuplesDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly admission: Admission
}

type Binding = Input<(typeof relationTuples)['operations']['PatchRelationTuple']>['body']

/** Serves the roles on the objects of a Project, one tuple each. Listed by id. */
export function createRelationTuples(deps: RelationTuplesDeps): Handlers<typeof relationTuples> {
  const { datastore, admission } = deps
  const db = () => datastore.pool('interactive')
  const replace = createReplacement(deps)
  return {
    ListRelationTuples(ctx, { project_id: projectId, resource }) {
      const object = resource === undefined ? undefined : requireObject(resource)
      return listPage(ctx, (range) => store.listTuples(db(), { projectId, object }, range), {
        positionOf: byId.positionOf,
        visible: (tuple) => ({ resource: referencesOf(tuple).resource }),
        toAnswer: (tuple) => toAnswer(storedTuple(tuple)),
      })
    },

    async CreateRelationTuple(ctx, { project_id: projectId, body }) {
      const created = await ctx.change(async (change) => {
        const admitted = await admission.admit(change.db, wantedOf(projectId, body))
        ctx.about(admitted.tuple.resource, admitted.place.domainId)
        return write(change, admitted)
      })
      ctx.header('Location', `/v1/authz/relation-tuples/${created.id}`)
      return toAnswer(created)
    },

    async BulkCreateRelationTuples(ctx, { body }) {
      await requireEveryProject(ctx, body.tuples)
      const wanted = body.tuples.map((row) => wantedOf(row.project_id, row))
      const created = await ctx.change((change) =>
        createAll(change, wanted, { admit: admission.within(change.db), write }),
      )
      ctx.note({ item_count: created.length })
      return { items: created.map(toAnswer) }
    },

    async PatchRelationTuple(ctx, { id, body }) {
      const old = await findOwned(ctx, db(), id)
      const replaced = await replace(ctx, old, wantedOf(old.project_id, body))
      return toAnswer(replaced)
    },

    async DeleteRelationTuple(ctx, { id }) {
      await findOwned(ctx, db(), id)
      await ctx.change((change) => remove(change, id))
    },
  }
}

/** @throws Problem `invalid_triple` for what names no object. */
function requireObject(resource: string): { readonly type: string; readonly id: string } {
  const object = parseReference(resource)
  if (object === undefined) throw invalidTriple({ part: 'resource', reason: 'malformed' })
  return object
}

/** The tuple, once the caller holds `manage` on its resource: 404 before 403 (decisions: the exceptions to convention 6). */
async function findOwned(ctx: RequestContext, db: Change['db'], id: string): Promise<store.TupleRecord> {
  const tuple = await store.findTuple(db, id)
  await ctx.admit(tuple && { resource: referencesOf(tuple).resource })
  if (tuple === undefined) throw problem('tuple_not_found')
  return tuple
}

function wantedOf(
  projectId: string,
  { subject, relation, resource, caveat_context: caveatContext }: Binding,
): WantedTuple {
  return { projectId, subject, relation, resource, caveatContext }
}

/**
 * Replaces a tuple: all checks come first, then the old tuple is deleted, then the new one is
 * written, each in its own transaction (S0 Authorization surface, Rules). The second one contains the audit row.
 */
function createReplacement({ unitOfWork, admission }: RelationTuplesDeps) {
  return async (ctx: RequestContext, old: store.TupleRecord, wanted: WantedTuple): Promise<StoredTuple> => {
    const { tuple } = admission.parse(wanted)
    await ctx.require('manage', tuple.resource)
    const { correlationId } = ctx
    await unitOfWork.run({ pool: 'interactive', correlationId }, async (change) => {
      const { columns } = await admission.admit(change.db, wanted)
      const [live] = await store.findBindings(change.db, [columns])
      if (live !== undefined && live.id !== old.id) throw problem('tuple_already_exists')
      await remove(change, old.id)
    })
    try {
      return await ctx.change(async (change) => {
        const admitted = await admission.admit(change.db, wanted)
        ctx.about(admitted.tuple.resource, admitted.place.domainId)
        return write(change, admitted)
      })
    } catch (error) {
      // If the second transaction fails, the old binding is deleted already: a code that promises an unchanged tuple must not be used.
      throw problem('internal', {}, error)
    }
  }
}

/** @throws Problem `tuple_already_exists`. */
async function write(change: Change, { tuple, place }: AdmittedTuple): Promise<StoredTuple> {
  const created = await change.tuples.create(tuple, place)
  if (created === undefined) throw problem('tuple_already_exists')
  announce(change, 'RelationTupleCreated', created)
  return created
}

/** @throws Problem `tuple_not_found` where another caller was first. */
async function remove(change: Change, id: string): Promise<void> {
  const tuple = await store.findTuple(change.db, id)
  const deleted = tuple === undefined ? undefined : await change.tuples.delete(id)
  if (deleted === undefined) throw problem('tuple_not_found')
  announce(change, 'RelationTupleDeleted', deleted)
}

function announce(
  change: Change,
  event: 'RelationTupleCreated' | 'RelationTupleDeleted',
  { id, subject, relation, resource, domainId, projectId }: StoredTuple,
): void {
  const payload = { tuple_id: id, project_id: projectId, subject, relation }
  change.emit({ event, domainId, aggregate: resource, payload })
}
