import type { Change } from '../../ports/unit-of-work.ts'
import { externalSubjectOf, type Users } from '../../ports/users.ts'
import * as store from './store.ts'

/** The properties of a new account. */
export interface AccountDraft {
  readonly id: string
  /** Of the user that it signs in as. */
  readonly userId: string
  readonly login: string
  readonly displayName: string
  readonly email: string | null
  readonly domainId: string
  /** Of the one-time password. */
  readonly passwordHash: string
  readonly createdAt: Date
}

const PLATFORM = { domainId: null, projectId: null } as const

/**
 * Adds an account together with its user, so that the first sign-in needs no invitation. It is the only place that creates one, also at
 * the first run.
 *
 * @throws Problem `domain_not_found`, `account_already_exists`
 */
export async function addAccount(change: Change, users: Users, draft: AccountDraft): Promise<store.ListedAccount> {
  const bindingId = await store.findBundledBinding(change.db)
  if (bindingId === undefined) throw new Error('the bundled provider has no binding')
  await users.add(change, {
    id: draft.userId,
    domainId: draft.domainId,
    displayName: draft.displayName,
    email: draft.email,
    external: externalSubjectOf({ issuer: '', isBundled: true }, draft.id),
    bindingId,
    createdAt: draft.createdAt,
  })
  const account = recordOf(draft)
  await store.insertAccount(change.db, account)
  change.emit({
    event: 'LocalAccountCreated',
    domainId: draft.domainId,
    aggregate: `user:${draft.userId}`,
    payload: { account_id: draft.id },
  })
  return { ...account, passkeys: 0 }
}

/** Makes the user an administrator of the platform; nothing when it is one. */
export async function makePlatformAdmin(change: Change, userId: string): Promise<void> {
  const grant = { subject: `user:${userId}`, relation: 'admin', resource: 'platform:main' }
  const created = await change.tuples.create(grant, PLATFORM)
  if (created === undefined) return
  const payload = { tuple_id: created.id, subject: grant.subject, relation: grant.relation }
  change.emit({ event: 'GrantCreated', domainId: null, aggregate: grant.resource, payload })
}

function recordOf(draft: AccountDraft): store.AccountRecord {
  return {
    id: draft.id,
    login: draft.login,
    display_name: draft.displayName,
    email: draft.email,
    domain_id: draft.domainId,
    principal_id: draft.userId,
    password_hash: draft.passwordHash,
    must_change_password: true,
    totp_sealed: null,
    totp_last_step: null,
    totp_enrolled_at: null,
    failed_count: 0,
    locked_until: null,
    disabled_at: null,
    changed_by_other_at: null,
    signed_out_at: null,
    last_sign_in_at: null,
    created_at: draft.createdAt,
    updated_at: draft.createdAt,
  }
}
