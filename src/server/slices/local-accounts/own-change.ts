import type { ServiceRelation } from '../../../shared/contract/audit-relations.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { AuditEntry, Change, UnitOfWork } from '../../ports/unit-of-work.ts'
import * as store from './store.ts'

/** The audited changes that people make to their own accounts. */
export type OwnRelation = Extract<ServiceRelation, `local_account.${string}`>

/** The result of a change: the context of its audit row, or that there was nothing to change. */
export type OwnOutcome = false | AuditEntry['context']

/** A change of one's own account, audited; false when the account is disabled or deleted, or there was nothing to change. */
export type ChangeOwn = (
  order: { readonly accountId: string; readonly relation: OwnRelation; readonly correlationId?: string },
  work: (change: Change, own: store.AccountRecord) => Promise<OwnOutcome>,
) => Promise<boolean>

export function createChangeOwn({
  unitOfWork,
  ids,
}: {
  readonly unitOfWork: UnitOfWork
  readonly ids: IdSource
}): ChangeOwn {
  return async ({ accountId, relation, correlationId = ids.next() }, work) => {
    let entries: readonly AuditEntry[] = []
    return unitOfWork.run({ pool: 'interactive', correlationId, audit: () => entries }, async (change) => {
      entries = []
      const account = await store.lockAccount(change.db, accountId)
      if (account === undefined || account.disabled_at !== null) return false
      const context = await work(change, account)
      if (context === false) return false
      const subject = `user:${account.principal_id}`
      const granted = { outcome: 'granted', reason: 'granted', correlationId } as const
      entries = [{ domainId: account.domain_id, subject, relation, object: subject, ...granted, context }]
      return true
    })
  }
}

/** The audit row of a guess at one's secrets that was refused. */
export function refusalOf(
  account: Pick<store.AccountRecord, 'principal_id' | 'domain_id'>,
  row: { readonly relation: OwnRelation; readonly reason: string; readonly correlationId: string },
): AuditEntry {
  const subject = `user:${account.principal_id}`
  return { domainId: account.domain_id, subject, object: subject, outcome: 'permission_denied', ...row, context: {} }
}

/** Announces the change of the account to the change feed. */
export function announceUpdate(
  change: Change,
  { id, principal_id: userId, domain_id: domainId }: store.AccountRecord,
): void {
  change.emit({ event: 'LocalAccountUpdated', domainId, aggregate: `user:${userId}`, payload: { account_id: id } })
}
