import type { Backend } from './backend.ts'
import { FIRST_LOGIN, type FirstAdministrator, type OneTimePassword } from '../first-run/administrator.ts'
import type { TokenHandover } from '../first-run/token-handover.ts'
import { addAccount, makePlatformAdmin } from '../slices/local-accounts/add-account.ts'
import type { PasswordHashing } from '../slices/local-accounts/password-hash.ts'
import { drawPassword } from '../slices/local-accounts/password-rules.ts'
import { findAccountByLogin } from '../slices/local-accounts/store.ts'
import type { Change } from '../ports/unit-of-work.ts'
import type { Users } from '../ports/users.ts'

interface AdministratorDeps {
  readonly backend: Backend
  readonly users: Users
  readonly hashing: PasswordHashing
  readonly handover: TokenHandover
}

/** How a first run makes its administrator. */
export function createFirstAdministrator(deps: AdministratorDeps): FirstAdministrator {
  const { backend, users, hashing, handover } = deps
  return {
    handover,
    draw: () => drawOneTimePassword(hashing),
    add: (change, founding) =>
      addAdministrator(change, { ...founding, users, userId: backend.ids.next(), login: FIRST_LOGIN }),
    async isCurrent(password) {
      const account = await findAccountByLogin(backend.datastore.pool('interactive'), FIRST_LOGIN)
      return account?.must_change_password === true && hashing.matches(password, account.password_hash)
    },
    isPending: () => isFirstPasswordPending(backend),
  }
}

/** Whether the first administrator still has to change the password that the first run made. */
export async function isFirstPasswordPending({ datastore }: Backend): Promise<boolean> {
  const account = await findAccountByLogin(datastore.pool('interactive'), FIRST_LOGIN)
  return account?.must_change_password === true
}

/** A new password that its owner has to change, with what is stored of it. */
export async function drawOneTimePassword(hashing: PasswordHashing): Promise<OneTimePassword> {
  const text = drawPassword()
  return { text, hash: await hashing.hash(text) }
}

/** What an administrator is made of where nobody has signed in yet. */
export interface AdministratorDraft {
  readonly id: string
  readonly userId: string
  readonly login: string
  readonly domainId: string
  readonly passwordHash: string
  readonly createdAt: Date
  readonly users: Users
}

/** Adds an account whose user administers the platform, and audits its chain like the bootstrap identity does. */
export async function addAdministrator(change: Change, { users, ...draft }: AdministratorDraft): Promise<void> {
  await addAccount(change, users, { ...draft, displayName: 'Administrator', email: null })
  await makePlatformAdmin(change, draft.userId)
}
