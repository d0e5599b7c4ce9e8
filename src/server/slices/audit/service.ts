import type { audit } from '../../../shared/contract/audit.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Signer } from '../../ports/signer.ts'
import { byAtDescending } from '../../sql/keyset.ts'
import { decisionOf } from './decision.ts'
import { createNameReader } from '../../sql/object-names.ts'
import { exportPage } from './export.ts'
import { periodOf } from './period.ts'
import { relationsMeant } from './relations.ts'
import * as store from './store.ts'
import { verifyChain } from './verification.ts'

type GetAudit = (typeof audit)['operations']['GetAudit']

export interface AuditDeps {
  readonly datastore: Datastore
  readonly signer: Pick<Signer, 'keys' | 'expired'>
}

/** Serves the audited decisions of a Domain or of the platform: the newest first, or in the order of their chain. */
export function createAudit({ datastore, signer }: AuditDeps): Handlers<typeof audit> {
  return {
    async GetAudit(ctx, query) {
      const filter = filterOf(query)
      const db = datastore.pool('interactive')
      // Auditors of a Domain may read its objects; those of other Domains only with the platform.
      const nameOf = createNameReader(db, (await ctx.probe('platform')) ? undefined : filter.domainId)
      return listPage(ctx, (range) => store.listAudit(db, filter, range), {
        positionOf: byAtDescending.positionOf,
        toAnswer: async (row) => {
          const [subject_name, object_name] = await Promise.all([nameOf(row.subject), nameOf(row.object)])
          return { ...decisionOf(row), subject_name, object_name }
        },
      })
    },

    async GetAuditVerify(ctx, { domain_id: domainId = null, from_seq: fromSeq }) {
      const answer = await verifyChain({ db: datastore.pool('interactive'), signer }, { domainId, fromSeq })
      ctx.note({ item_count: answer.rows })
      return answer
    },

    async GetAuditExport(ctx, { domain_id: domainId = null, from_seq: fromSeq, through_seq: throughSeq, ...query }) {
      const asked = { domainId, fromSeq, throughSeq, ...periodOf(query), count: query.rows ?? EXPORT_ROWS }
      const answer = await exportPage(datastore.pool('interactive'), asked)
      ctx.note({ item_count: answer.items.length })
      return answer
    },
  }
}

/** Default number of rows on a page of the export. */
const EXPORT_ROWS = 500

function filterOf({ domain_id: domainId, since, until, ...rest }: Input<GetAudit>): store.AuditFilter {
  const { subject, relation, object, outcome, correlation_id } = rest
  const actor: store.AuditMatch['actor'] = rest.actor === 'service' ? 'serviceaccount' : rest.actor
  const match = { subject, relation, object, outcome, correlation_id, actor, relations: relationsMeant(rest) }
  return { domainId: domainId ?? null, match, ...periodOf({ since, until }) }
}
