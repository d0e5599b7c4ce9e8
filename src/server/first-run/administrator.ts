import { existsSync, rmSync } from 'node:fs'
import type { Change } from '../ports/unit-of-work.ts'
import type { NewObject } from './bootstrap.ts'
import type { TokenHandover } from './token-handover.ts'

/** Login of the administrator that a first run makes. */
export const FIRST_LOGIN = 'admin'

/** A one-time password, and what is stored of it. */
export interface OneTimePassword {
  readonly text: string
  readonly hash: string
}

/** How the first administrator is created, where people sign in with local accounts. */
export interface FirstAdministrator {
  /** Takes the one-time password. */
  readonly handover: TokenHandover
  draw(): Promise<OneTimePassword>
  /** Adds the account with the platform in its hands. */
  add(change: Change, account: NewObject & { readonly domainId: string; readonly passwordHash: string }): Promise<void>
  /** Whether the first administrator still has that password, and has to change it. */
  isCurrent(password: string): Promise<boolean>
  /** Whether the first administrator still has to change the password that the first run made. */
  isPending(): Promise<boolean>
}

/** Publishes a password that an interrupted start committed, else forgets it. Resolves with whether it was published. */
export async function resumeAdministrator(administrator: FirstAdministrator): Promise<boolean> {
  const { handover } = administrator
  const password = handover.staged()
  if (password === undefined) return false
  const isReal = await administrator.isCurrent(password)
  if (isReal) handover.publish()
  else handover.discard()
  return isReal
}

/** Removes the file with the one-time password, which is of no use once that was changed. */
export async function removeSpentPassword(path: string, of: Pick<FirstAdministrator, 'isPending'>): Promise<void> {
  if (existsSync(path) && !(await of.isPending())) rmSync(path, { force: true })
}
