import type { localAccounts } from '../../../shared/contract/local-accounts.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { ListedAccount } from './store.ts'

type Answer = Result<(typeof localAccounts)['operations']['PatchAdminUserByID']>

/** The account as the API shows it: nothing of its secrets. */
export function toAnswer(account: ListedAccount): Answer {
  const { totp_sealed: totp, passkeys } = account
  return {
    id: account.id,
    login: account.login,
    display_name: account.display_name,
    email: account.email,
    domain_id: account.domain_id,
    user_id: account.principal_id,
    disabled: account.disabled_at !== null,
    must_change_password: account.must_change_password,
    second_factors: [...(passkeys > 0 ? (['passkey'] as const) : []), ...(totp === null ? [] : (['totp'] as const))],
    last_sign_in_at: account.last_sign_in_at?.toISOString() ?? null,
    created_at: account.created_at.toISOString(),
  }
}
