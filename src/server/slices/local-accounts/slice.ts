import type { Slice } from '../../http/slice.ts'
import { createAccountPages, type AccountPagesDeps } from './account-pages.ts'
import { createOwnFactors, type OwnFactorsDeps } from './own-factors.ts'
import { createLocalAccounts, type LocalAccountsDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

export type LocalAccountsPorts = OwnFactorsDeps &
  LocalAccountsDeps &
  Omit<AccountPagesDeps, 'beginSignIn'> & {
    readonly startSignIn: AccountPagesDeps['beginSignIn']
    /** Whether the bundled identity provider runs. Without it nobody could sign in to an account. */
    readonly hasBundledProvider: boolean
  }

/** Accounts of the bundled identity provider. */
export function createSlice(ports: LocalAccountsPorts): Slice<'localAccounts' | 'ownFactors'> {
  if (!ports.hasBundledProvider) return { handlers: { localAccounts: undefined, ownFactors: undefined } }
  return {
    handlers: { localAccounts: createLocalAccounts(ports), ownFactors: createOwnFactors(ports) },
    pages: createAccountPages({ ...ports, beginSignIn: ports.startSignIn }),
  }
}
