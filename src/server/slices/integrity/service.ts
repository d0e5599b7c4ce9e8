import type { integrity } from '../../../shared/contract/integrity.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage, pageSizeOf, type ListOf } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import { readLabelFilter } from '../../labels/label-filter.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { byAcceptedAtDescending } from '../../sql/keyset.ts'
import * as store from './store.ts'
import { toAnswer, violationReference } from './violation.ts'

export interface IntegrityDeps {
  readonly datastore: Datastore
}

/** What of a page the caller may see; all of it where nothing is said. */
type Shown = Pick<ListOf<store.StoredViolation, unknown>, 'visible'>

type ListQuery = Input<(typeof integrity)['operations']['ListIntegrityViolations']>

/** Serves the triage of integrity violations (S1 Integrity-violation triage). */
export function createIntegrity({ datastore }: IntegrityDeps): Handlers<typeof integrity> {
  const read = () => datastore.pool('interactive')

  /** Answers a page; its audit row has the number of rows that were read where some of them were left out. */
  async function list(ctx: RequestContext, query: ListQuery, shown: Shown) {
    const { domain_id: domainId, project_id: projectId, node_id: nodeId, kind, status, labels: text } = query
    const { artifact_id: artifactId } = query
    const labels = text === undefined ? undefined : await readLabelFilter(read(), text, domainId)
    const filter = { domainId, projectId, nodeId, artifactId, kind, status, labels }
    let found = 0
    const page = await listPage(
      ctx,
      async (range) => {
        const stored = await store.listViolations(read(), filter, range)
        found = Math.min(stored.length, pageSizeOf(ctx))
        return stored
      },
      { positionOf: byAcceptedAtDescending.positionOf, toAnswer, ...shown },
    )
    const count = page.items.length
    ctx.note({ count, ...(found > count && { persistence_count: found }) })
    return page
  }

  async function show(ctx: RequestContext, key: store.ViolationKey) {
    const stored = await store.findViolation(read(), key)
    if (stored === undefined) throw problem('integrity_violation_not_found')
    concern(ctx, stored)
    return toAnswer(stored)
  }

  function acknowledge(ctx: RequestContext, key: store.ViolationKey, reason: string) {
    const { subject } = ctx.caller
    return ctx.change(async (change) => {
      const decided = { ...key, reason, bySubject: subject, at: new Date(ctx.nowMs) }
      const acknowledged = await store.acknowledge(change.db, decided)
      if (acknowledged === undefined) return refuse(ctx, await store.findViolation(change.db, key))
      concern(ctx, acknowledged)
      const { id, node_id, domain_id: domainId, kind, artifact_id } = acknowledged
      const payload = { violation_id: id, node_id, kind, artifact_id, acknowledged_by: subject }
      change.emit({ event: 'IntegrityViolationAcknowledged', domainId, aggregate: violationReference(id), payload })
      return toAnswer(acknowledged)
    })
  }

  return {
    ListIntegrityViolations: (ctx, query) => list(ctx, query, OF_DOMAINS),
    GetIntegrityViolation: (ctx, { id }) => show(ctx, { id, domainId: undefined }),
    AcknowledgeIntegrityViolation: (ctx, { id, body }) => acknowledge(ctx, { id, domainId: undefined }, body.reason),
    ListDomainIntegrityViolations: (ctx, query) => list(ctx, query, {}),
    GetDomainIntegrityViolation: (ctx, { id, domain_id: domainId }) => show(ctx, { id, domainId }),
    AcknowledgeDomainIntegrityViolation: (ctx, { id, domain_id: domainId, body }) =>
      acknowledge(ctx, { id, domainId }, body.reason),
  }
}

/** Rows of Domains that the caller may not read are left out. */
const OF_DOMAINS: Shown = { visible: ({ domain_id }: store.StoredViolation) => ({ domain_id }) }

/** Names the violation in the audit row, which belongs to its Domain. */
function concern(ctx: RequestContext, { id, domain_id }: store.StoredViolation): void {
  ctx.about(violationReference(id), domain_id)
}

/** @throws Problem `integrity_violation_not_found`, `illegal_transition`. */
function refuse(ctx: RequestContext, stored: store.StoredViolation | undefined): never {
  if (stored === undefined) throw problem('integrity_violation_not_found')
  concern(ctx, stored)
  throw problem('illegal_transition')
}
