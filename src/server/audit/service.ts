import type { audit } from '../../shared/contract/audit.ts'
import type { Input, Result } from '../../shared/contract/operation.ts'
import { problem } from '../../shared/problems.ts'
import { cutPage } from '../http/cut-page.ts'
import type { Handlers, PagePosition } from '../http/request-context.ts'
import type { Datastore } from '../ports/datastore.ts'
import * as store from './store.ts'

type GetAudit = (typeof audit)['operations']['GetAudit']
type AuditAnswer = Result<GetAudit>['items'][number]

/** Serves the audited decisions of a Domain or of the platform, newest first. */
export function createAudit({ datastore }: { readonly datastore: Datastore }): Handlers<typeof audit> {
  return {
    async GetAudit(ctx, query) {
      const range = { ...rangeOf(query), after: keyOf(ctx.position), count: ctx.pageSize + 1 }
      const read = await store.listAudit(datastore.pool('interactive'), range)
      const { rows, next } = cutPage(read, ctx.pageSize, ({ at, id }) => [at.toISOString(), id])
      return ctx.page(rows.map(toAnswer), next)
    },
  }
}

function rangeOf({
  domain_id: domainId,
  since,
  until,
  ...rest
}: Input<GetAudit>): Omit<store.AuditRange, 'after' | 'count'> {
  const { subject, relation, object, outcome, correlation_id } = rest
  const period = { since: instantOf(since), until: instantOf(until) }
  if (period.since !== undefined && period.until !== undefined && period.since >= period.until) {
    throw problem('invalid_audit_filter')
  }
  return { domainId: domainId ?? null, match: { subject, relation, object, outcome, correlation_id }, ...period }
}

const EARLIEST_MS = Date.UTC(1970, 0)
const LATEST_MS = Date.UTC(9999, 11, 31)

/** The instant; one outside of 1970 to 9999 is refused, since no row can have it and the datastore may not know it. */
function instantOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const ms = Date.parse(text)
  if (ms >= EARLIEST_MS && ms <= LATEST_MS) return new Date(ms)
  throw problem('invalid_audit_filter')
}

function keyOf(position: PagePosition | undefined): store.AuditRange['after'] {
  const [at, id] = position ?? []
  return at === undefined || id === undefined ? undefined : { at: new Date(at), id }
}

function toAnswer(row: store.AuditRecord): AuditAnswer {
  const { id, domain_id, subject, relation, object, outcome, reason, correlation_id, context } = row
  return {
    id,
    at: row.at.toISOString(),
    domain_id,
    subject,
    relation,
    object,
    outcome,
    reason,
    correlation_id,
    context,
  }
}
