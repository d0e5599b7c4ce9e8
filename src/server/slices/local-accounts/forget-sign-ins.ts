import type { ForgetSignIns } from '../../ports/sessions.ts'
import * as store from './store.ts'

/** Makes the bundled provider ask for the password again after every earlier sign-in; does nothing for people without a local account. */
export const forgetSignIns: ForgetSignIns = async (change, principalId, at) => {
  const account = await store.lockAccountOf(change.db, principalId)
  if (account !== undefined) await store.updateAccount(change.db, account.id, { signed_out_at: at })
}
