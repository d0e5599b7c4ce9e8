import type { TupleEdit } from '../../../shared/authz/impact.ts'
import { parseTupleReference } from '../../../shared/authz/reference.ts'
import type { TupleColumns } from '../../../shared/authz/tuple.ts'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import type { authz } from '../../../shared/contract/authz.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { isNonZeroUuid, PLATFORM } from '../../../shared/ids.ts'
import { problem } from '../../../shared/problems.ts'
import { foreignSubject, requireRoleSubject, type RoleSubject } from '../../../shared/role-subjects.ts'
import { ROLES } from '../../../shared/roles.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { SubjectDirectory } from '../../ports/subject-directory.ts'
import type { TupleAdmission } from '../../ports/tuple-admission.ts'
import * as store from './store.ts'

export type AskedEdit = Input<(typeof authz)['operations']['PostAuthzImpact']>['body']['edits'][number]

type Asked<Kind extends AskedEdit['kind']> = Extract<AskedEdit, { kind: Kind }>

export interface EditsDeps {
  readonly datastore: Datastore
  readonly subjects: SubjectDirectory
  readonly admission: TupleAdmission
}

/** Turns the changes of a preview into edits of tuples, with the gates and refusals of the real writes. */
export type ResolveEdits = (ctx: RequestContext, asked: readonly AskedEdit[]) => Promise<TupleEdit[]>

/** Creates the resolver. An edit sees the edits before it: a later one may create what an earlier one deletes. */
export function createResolveEdits(deps: EditsDeps): ResolveEdits {
  const { datastore, admission } = deps
  const db = (): Db => datastore.pool('interactive')

  async function tuple(ctx: RequestContext, edit: Asked<'tuple'>): Promise<TupleEdit[]> {
    if (edit.op === 'delete') {
      const row = await store.findProjectTuple(db(), edit.tuple_id)
      if (row === undefined) throw problem('tuple_not_found')
      await ctx.require('manage', `${row.resource_type}:${row.resource_id}`)
      return [{ op: 'delete', tuple: row }]
    }
    await ctx.require('manage', `project:${edit.project_id}`)
    const { project_id: projectId, caveat_context: caveatContext, ...parts } = edit
    const { columns } = await admission.admit(db(), { projectId, caveatContext, ...parts })
    return [{ op: 'create', tuple: columns }]
  }

  async function grant(ctx: RequestContext, edit: Asked<'grant'>): Promise<TupleEdit[]> {
    const object = roleObject(edit.resource)
    await ctx.require('manage', `${object.type}:${object.id}`)
    if (edit.op === 'delete') {
      const row = await store.findRole(db(), object, edit.tuple_id)
      if (row === undefined) throw problem('tuple_not_found')
      return [{ op: 'delete', tuple: row }]
    }
    const { relation } = edit
    if (ROLES[object.type]?.includes(relation) !== true) {
      throw invalidTriple({ part: 'relation', reason: 'not_allowed' })
    }
    const subject = requireRoleSubject(edit.subject)
    const domainId = await domainOf(db(), object)
    await requireBindable(deps, db(), { subject, domainId })
    return [{ op: 'create', tuple: bound(subject, { ...object, relation, domainId }) }]
  }

  async function membership(ctx: RequestContext, edit: Asked<'membership'>): Promise<TupleEdit[]> {
    const group = parseTupleReference(edit.group)
    if (group?.type !== 'group' || group.relation !== '' || !isNonZeroUuid(group.id)) {
      throw invalidTriple({ part: 'resource', reason: 'malformed' })
    }
    const subject = requireRoleSubject(edit.subject)
    await ctx.require('manage', `group:${group.id}`)
    const found = await store.findGroup(db(), group.id)
    if (found === undefined) throw problem('group_not_found')
    if (found.provider_group !== null) throw problem('group_managed_by_provider')
    if (edit.op === 'delete') {
      const rows = await store.findMemberships(db(), group.id, subject)
      if (rows.length === 0) throw problem('group_member_not_found')
      return rows.map((row) => ({ op: 'delete', tuple: row }))
    }
    const { domain_id: domainId } = found
    await requireBindable(deps, db(), { subject, domainId })
    return [{ op: 'create', tuple: bound(subject, { type: 'group', id: group.id, relation: 'member', domainId }) }]
  }

  function resolve(ctx: RequestContext, edit: AskedEdit): Promise<TupleEdit[]> {
    if (edit.kind === 'tuple') return tuple(ctx, edit)
    return edit.kind === 'grant' ? grant(ctx, edit) : membership(ctx, edit)
  }

  return async (ctx, asked) => {
    const edits: TupleEdit[] = []
    for (const edit of asked) {
      const resolved = await resolve(ctx, edit)
      // Adding an existing member is no error; any other duplicate is 409.
      if (edit.kind !== 'membership') await refuseLive(db(), edits, resolved)
      edits.push(...resolved)
    }
    return edits
  }
}

interface RoleObject {
  readonly type: 'domain' | 'platform' | 'node'
  readonly id: string
}

/** @throws Problem `invalid_triple` unless the reference is a Domain, a node or the platform. */
function roleObject(reference: string): RoleObject {
  if (reference === PLATFORM) return { type: 'platform', id: 'main' }
  const parsed = parseTupleReference(reference)
  const isKnown = parsed?.type === 'domain' || parsed?.type === 'node'
  if (!isKnown || parsed.relation !== '' || !isNonZeroUuid(parsed.id)) {
    throw invalidTriple({ part: 'resource', reason: 'malformed' })
  }
  return { type: parsed.type === 'node' ? 'node' : 'domain', id: parsed.id }
}

/**
 * The Domain that the subjects of a role on the object belong to; null for the platform.
 * @throws Problem `invalid_triple` for a node in a Project: its roles are tuples of that Project.
 */
async function domainOf(db: Db, { type, id }: RoleObject): Promise<string | null> {
  if (type !== 'node') return type === 'domain' ? id : null
  const domainId = await store.findDomainOfFreeNode(db, id)
  if (domainId === undefined) throw invalidTriple({ part: 'resource', reason: 'not_allowed' })
  return domainId
}

async function requireBindable(
  { subjects }: EditsDeps,
  db: Db,
  { subject, domainId }: { readonly subject: RoleSubject; readonly domainId: string | null },
): Promise<void> {
  if (!(await subjects.mayBind(db, subject, domainId))) throw foreignSubject()
}

interface Role {
  readonly type: string
  readonly id: string
  readonly relation: string
  readonly domainId: string | null
}

function bound(subject: RoleSubject, { type, id, relation, domainId }: Role): TupleColumns {
  return {
    subject_type: subject.type,
    subject_id: subject.id,
    subject_relation: subject.type === 'group' ? 'member' : '',
    relation,
    resource_type: type,
    resource_id: id,
    caveat_name: '',
    domain_id: domainId,
  }
}

/** @throws Problem `tuple_already_exists` for a tuple that is live after the edits before it. */
async function refuseLive(db: Db, before: readonly TupleEdit[], edits: readonly TupleEdit[]): Promise<void> {
  for (const { op, tuple } of edits) {
    if (op === 'delete') continue
    const last = before.findLast((edit) => keyOf(edit.tuple) === keyOf(tuple))
    const isLive = last === undefined ? (await store.findSame(db, tuple)) !== undefined : last.op === 'create'
    if (isLive) throw problem('tuple_already_exists')
  }
}

function keyOf(tuple: TupleColumns): string {
  const { subject_type, subject_id, subject_relation, relation, resource_type, resource_id, caveat_name } = tuple
  return JSON.stringify([subject_type, subject_id, subject_relation, relation, resource_type, resource_id, caveat_name])
}
