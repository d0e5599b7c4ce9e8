import { existsSync, rmSync } from 'node:fs'
import type { Change } from '../ports/unit-of-work.ts'
import type { NewObject } from './bootstrap.ts'
import type { TokenHandover } from './token-handover.ts'

/** Login of the administrator that the first start creates. */
export const FIRST_LOGIN = 'admin'

/** A one-time password, and its stored hash. */
export interface OneTimePassword {
  readonly text: string
  readonly hash: string
}

/** Creates the first administrator, if people sign in with local accounts. */
export interface FirstAdministrator {
  /** Receives the one-time password. */
  readonly handover: TokenHandover
  draw(): Promise<OneTimePassword>
  /** Adds the account and makes it an administrator of the platform. */
  add(change: Change, account: NewObject & { readonly domainId: string; readonly passwordHash: string }): Promise<void>
  /** Whether this is still the password of the first administrator, who must change it. */
  isCurrent(password: string): Promise<boolean>
  /** Whether the first administrator must still change the initial password. */
  isPending(): Promise<boolean>
}

/**
 * Publishes the staged password of an interrupted start if its account was committed; discards it otherwise. Resolves
 * with whether it was published.
 */
export async function resumeAdministrator(administrator: FirstAdministrator): Promise<boolean> {
  const { handover } = administrator
  const password = handover.staged()
  if (password === undefined) return false
  const isReal = await administrator.isCurrent(password)
  if (isReal) handover.publish()
  else handover.discard()
  return isReal
}

/** Removes the file with the one-time password after the password was changed. */
export async function removeSpentPassword(path: string, of: Pick<FirstAdministrator, 'isPending'>): Promise<void> {
  if (existsSync(path) && !(await of.isPending())) rmSync(path, { force: true })
}
