import type { grants } from '../../../shared/contract/grants.ts'
import { problem } from '../../../shared/problems.ts'
import { foreignSubject, formatRoleSubject, requireRoleSubject } from '../../../shared/role-subjects.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { SubjectDirectory } from '../../ports/subject-directory.ts'
import { storedTuple } from '../../ports/stored-tuple.ts'
import type { Change, StoredTuple } from '../../ports/unit-of-work.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import { byCreatedAt } from '../../sql/keyset.ts'
import { areLastPlatformAdmins } from '../../sql/platform-admins.ts'
import { foreignNode, objectIn, referenceOf, requireRole, toAnswer } from './grant.ts'
import * as store from './store.ts'

export interface GrantsDeps {
  readonly datastore: Datastore
  readonly subjects: SubjectDirectory
}

const PLATFORM: store.GrantObject = { type: 'platform', id: 'main' }

/** Serves the roles held on Domains and on the platform. They are listed oldest first. */
export function createGrants({ datastore, subjects }: GrantsDeps): Handlers<typeof grants> {
  const create = createGrant(subjects)
  const list = listOn(datastore)
  return {
    async CreateDomainGrant(ctx, { id, body }) {
      const created = await ctx.change(async (change) => {
        if (!(await holdDomain(change.db, id))) throw problem('domain_not_found')
        const object = objectIn(id, body.resource)
        if (object.type === 'node' && !(await store.holdFreeNode(change.db, id, object.id))) throw foreignNode()
        return create(change, { object, domainId: id }, body)
      })
      ctx.header('Location', `/v1/domains/${id}/grants/${created.id}`)
      return toAnswer(created)
    },

    async ListDomainGrants(ctx, { id, resource }) {
      const object = objectIn(id, resource)
      const db = datastore.pool('interactive')
      if (object.type === 'node' && !(await store.hasFreeNode(db, id, object.id))) throw foreignNode()
      return list(ctx, object)
    },

    async DeleteDomainGrant(ctx, { id, tuple_id: tupleId }) {
      await ctx.change(async (change) => deleteGrant(change, await store.findGrantIn(change.db, id, tupleId)))
    },

    async CreatePlatformGrant(ctx, { body }) {
      const created = await ctx.change((change) => create(change, { object: PLATFORM, domainId: null }, body))
      ctx.header('Location', `/v1/platform/grants/${created.id}`)
      return toAnswer(created)
    },

    ListPlatformGrants: (ctx) => list(ctx, PLATFORM),

    async DeletePlatformGrant(ctx, { tuple_id: tupleId }) {
      await ctx.change(async (change) => {
        const isLast = await areLastPlatformAdmins(change.db, (admin) => admin.tupleId === tupleId)
        if (isLast) throw problem('last_platform_admin')
        await deleteGrant(change, await store.findGrant(change.db, PLATFORM, tupleId))
      })
    },
  }
}

interface Binding {
  readonly subject: string
  readonly relation: string
}

/** The object of a grant, and the Domain that its subjects belong to; null for the platform. */
interface Place {
  readonly object: store.GrantObject
  readonly domainId: string | null
}

const createGrant =
  (subjects: SubjectDirectory) =>
  async (change: Change, { object, domainId }: Place, binding: Binding): Promise<StoredTuple> => {
    const subject = requireRoleSubject(binding.subject)
    const relation = requireRole(object, binding.relation)
    if (!(await subjects.mayBind(change.db, subject, domainId))) {
      throw foreignSubject()
    }
    const tuple = { subject: formatRoleSubject(subject), relation, resource: referenceOf(object) }
    const grant = await change.tuples.create(tuple, { domainId, projectId: null })
    if (grant === undefined) throw problem('tuple_already_exists')
    announce(change, 'GrantCreated', grant)
    return grant
  }

/** A role that is granted elsewhere is not found here, even if the caller holds roles there. */
async function deleteGrant(change: Change, grant: store.GrantRecord | undefined): Promise<void> {
  const deleted = grant === undefined ? undefined : await change.tuples.delete(grant.id)
  if (deleted === undefined) throw problem('tuple_not_found')
  announce(change, 'GrantDeleted', deleted)
}

const listOn = (datastore: Datastore) => (ctx: RequestContext, object: store.GrantObject) =>
  listPage(ctx, (range) => store.listGrants(datastore.pool('interactive'), object, range), {
    positionOf: byCreatedAt.positionOf,
    toAnswer: (grant) => toAnswer(storedTuple(grant)),
  })

function announce(change: Change, event: 'GrantCreated' | 'GrantDeleted', grant: StoredTuple): void {
  const { id, subject, relation, resource, domainId } = grant
  change.emit({ event, domainId, aggregate: resource, payload: { tuple_id: id, subject, relation } })
}
