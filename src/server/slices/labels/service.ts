import type { labels } from '../../../shared/contract/labels.ts'
import { storedKind, type LabelKind } from '../../../shared/labels/label-kinds.ts'
import type { LabelValue } from '../../../shared/labels/schema-types.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import { assignLabel, removeLabel } from '../../labels/assign.ts'
import {
  findObject,
  readAssignments,
  readEffective,
  type AssignmentRecord,
  type ObjectKey,
} from '../../labels/assignment-store.ts'
import { define } from '../../labels/define.ts'
import {
  definitionReference,
  scopeObject,
  type DefinitionRecord,
  type DefinitionScope,
} from '../../labels/definition.ts'
import { findByKey, findDefinition } from '../../labels/definition-store.ts'
import { labelValue } from '../../labels/label-value.ts'
import { knowsDefinition } from '../../labels/known-definitions.ts'
import { assertRelayValue, RELAY_LABEL } from '../../labels/relay-label.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { holdProject } from '../../sql/hold-project.ts'
import { byLabelledObject, byQualifiedKey } from '../../sql/keyset.ts'
import { changeDefinition, removeDefinition } from './change-definition.ts'
import { assertDefinable, newDefinition, toAnswer } from './definition-body.ts'
import { listDefinitions, listLabels } from './store.ts'

export interface LabelsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
}

type Operations = (typeof labels)['operations']
type Label = Result<Operations['PutObjectLabel']>

/** Serves label Definitions, by qualified key, and the labels of objects (S1 Label registry). */
export function createLabels({ datastore, ids }: LabelsDeps): Handlers<typeof labels> {
  const db = () => datastore.pool('interactive')
  return { ...definitionHandlers(db, ids), ...objectHandlers(db) }
}

type DefinitionHandlers = Pick<
  Handlers<typeof labels>,
  | 'ListLabelDefinitions'
  | 'CreateLabelDefinition'
  | 'GetLabelDefinition'
  | 'UpdateLabelDefinition'
  | 'DeleteLabelDefinition'
>

function definitionHandlers(db: () => Db, ids: IdSource): DefinitionHandlers {
  return {
    ListLabelDefinitions: (ctx, { scope, include }) =>
      listPage(ctx, (range) => listDefinitions(db(), { scope, isEnclosing: include === 'enclosing' }, range), {
        positionOf: byQualifiedKey.positionOf,
        visible: ({ id }) => ({ id }),
        toAnswer,
      }),

    async CreateLabelDefinition(ctx, { body }) {
      assertDefinable(body)
      const id = ids.next()
      const created = await ctx.change(async (change) => {
        const scope = await holdScope(change.db, body.scope)
        const definition = newDefinition({ id, scope, at: new Date(ctx.nowMs) }, body)
        await define(change, definition)
        ctx.about(definitionReference(id), scope.domain_id)
        return definition
      })
      ctx.header('Location', `/v1/label-definitions/${id}`)
      return toAnswer(created)
    },

    async GetLabelDefinition(ctx, { id }) {
      const found = await findDefinition(db(), id)
      if (found === undefined) throw problem('definition_not_found')
      ctx.about(definitionReference(id), found.domain_id)
      return toAnswer(found)
    },

    async UpdateLabelDefinition(ctx, { id, body }) {
      await admitToScope(ctx, await findDefinition(db(), id))
      ctx.note({ fields: Object.keys(body).toSorted() })
      return toAnswer(await ctx.change((change) => changeDefinition(change, id, { body, nowMs: ctx.nowMs })))
    },

    async DeleteLabelDefinition(ctx, { id }) {
      await admitToScope(ctx, await findDefinition(db(), id))
      await ctx.change((change) => removeDefinition(change, id))
    },
  }
}

/** Lets only those who manage the Definition's scope pass; who may not even see it gets the answer of an unknown id. */
async function admitToScope(ctx: RequestContext, found: DefinitionRecord | undefined): Promise<void> {
  if (found !== undefined) ctx.about(definitionReference(found.id), found.domain_id)
  await ctx.admit(found && { scope: scopeObject(found) })
}

/** Keeps the object that the scope is from being deleted. @throws Problem `domain_not_found`, `project_not_found` */
async function holdScope(db: Db, scope: string): Promise<DefinitionScope> {
  const [kind, id = ''] = scope.split(':')
  if (kind === 'platform') return { scope_kind: 'platform', domain_id: null, project_id: null }
  if (kind === 'domain') {
    if (!(await holdDomain(db, id))) throw problem('domain_not_found')
    return { scope_kind: 'domain', domain_id: id, project_id: null }
  }
  const domainId = await holdProject(db, id)
  if (domainId === undefined) throw problem('project_not_found')
  return { scope_kind: 'project', domain_id: domainId, project_id: id }
}

type ObjectHandlers = Pick<
  Handlers<typeof labels>,
  'ListObjectLabels' | 'ListDomainLabels' | 'PutObjectLabel' | 'DeleteObjectLabel'
>

function objectHandlers(db: () => Db): ObjectHandlers {
  return {
    async ListObjectLabels(ctx, { kind, id, view }) {
      const object = await findObject(db(), { kind: storedKind(kind), id })
      if (object === undefined) throw problem('object_not_found')
      ctx.about(`${kind}:${id}`, object.domain_id)
      const own = { kind: storedKind(kind), id }
      const read = view === 'effective' ? readEffective(db(), object) : readAssignments(db(), own)
      return { items: (await read).map((label) => labelAnswer(label, kind)) }
    },

    ListDomainLabels(ctx, { id: domainId, kind }) {
      const knows = knowsDefinition(ctx)
      const filter = { domainId, kind: kind && storedKind(kind) }
      return listPage(ctx, (range) => listLabels(db(), filter, range), {
        positionOf: byLabelledObject.positionOf,
        visible: (label) => ({ kind: label.kind, object_id: label.object_id }),
        matches: ({ definition_id: definition }) => definition !== null && knows(definition),
        toAnswer: (label) => labelAnswer(label, kind),
      })
    },

    async PutObjectLabel(ctx, { kind, id, body: { qualified_key: key, value } }) {
      const definition = await findByKey(db(), key.toLowerCase())
      await ctx.admit(definition && { definition_id: definition.id })
      if (definition === undefined) throw problem('definition_not_found')
      const by = { by: ctx.caller.subject, nowMs: ctx.nowMs }
      const object = { kind: storedKind(kind), id }
      await assertRelay(ctx, db(), { object, definition, value })
      const label = await ctx.change((change) =>
        assignLabel(change, { object, definitionId: definition.id, value, ...by }),
      )
      return labelAnswer(label, kind)
    },

    async DeleteObjectLabel(ctx, { kind, id, qualified_key: key }) {
      await ctx.change((change) => removeLabel(change, { kind: storedKind(kind), id }, key.toLowerCase()))
    },
  }
}

/** Looks at the value of a label that names a bridge; other faults of the call are found later. */
async function assertRelay(
  ctx: RequestContext,
  db: Db,
  { object, definition, value }: { object: ObjectKey; definition: DefinitionRecord; value: LabelValue },
): Promise<void> {
  if (definition.qualified_key !== RELAY_LABEL || !definition.kinds.includes(object.kind)) return
  const found = await findObject(db, object)
  if (found?.domain_id) await assertRelayValue(ctx, db, { domainId: found.domain_id, value })
}

/** A label as the API shows it: of the kind that was asked for, or of the object that it is inherited from. */
function labelAnswer(label: AssignmentRecord, asked: LabelKind | undefined): Label {
  return {
    kind: asked !== undefined && label.kind === storedKind(asked) ? asked : label.kind,
    object_id: label.object_id,
    qualified_key: label.qualified_key,
    definition_id: label.definition_id,
    value: labelValue(label),
    assigned_by: label.assigned_by,
    created_at: label.created_at.toISOString(),
    updated_at: label.updated_at.toISOString(),
  }
}
