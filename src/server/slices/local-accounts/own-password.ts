import type { WeakPassword } from '../../ports/local-sign-in.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Sessions } from '../../ports/sessions.ts'
import type { AuditEntry, UnitOfWork } from '../../ports/unit-of-work.ts'
import { createGuessLimit, unlessBusy } from './guess-limit.ts'
import { announceUpdate, createChangeOwn, refusalOf } from './own-change.ts'
import type { PasswordHashing } from './password-hash.ts'
import { weaknessOf } from './password-rules.ts'
import * as guesses from './sign-in-store.ts'
import * as store from './store.ts'

export interface OwnPasswordDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly sessions: Pick<Sessions, 'endOthersOf'>
  readonly hashing: PasswordHashing
  readonly clock: Clock
  readonly ids: IdSource
  /** Takes the audit row of a refusal. */
  readonly onRefused: (entry: AuditEntry) => void
  /** Called when a person has replaced their password. */
  readonly onPasswordChanged?: ((login: string) => void) | undefined
}

export interface PasswordChange {
  readonly account: store.AccountRecord
  readonly current: string
  readonly next: string
  /** The session of the requesting browser; all others end. */
  readonly sessionId: string
  readonly correlationId: string
}

/** Why a password was not changed: `wrong` also where the account is locked, which is not disclosed. */
export type PasswordRefusal = WeakPassword | 'wrong' | 'busy'

/** Changes the password of somebody who is signed in and knows the current one; undefined when it is done. */
export type ChangeOwnPassword = (change: PasswordChange) => Promise<PasswordRefusal | undefined>

/** An open browser or a stolen session must not take over the account: guesses count as those at sign-in do. */
export function createOwnPassword(deps: OwnPasswordDeps): ChangeOwnPassword {
  const { datastore, hashing } = deps
  const count = createGuessLimit(deps)
  const changeOwn = createChangeOwn(deps)

  /** Whether the current password is right; undefined when it could not be checked. */
  async function proves({ account, current, correlationId }: PasswordChange): Promise<boolean | undefined> {
    const [isCounted, isRight] = await Promise.all([
      count(account.id),
      unlessBusy(hashing.matches(current, account.password_hash)),
    ])
    const db = datastore.pool('interactive')
    if (isRight === undefined) {
      if (isCounted) await guesses.uncountGuess(db, account.id)
      return undefined
    }
    if (isCounted && isRight) {
      await guesses.forgiveGuess(db, account.id)
      return true
    }
    const reason = isCounted ? 'wrong_password' : 'too_many_failures'
    deps.onRefused(refusalOf(account, { relation: 'local_account.password', reason, correlationId }))
    return false
  }

  async function keepHash({ account, sessionId, correlationId }: PasswordChange, hash: string): Promise<boolean> {
    const at = new Date(deps.clock.now())
    const order = { accountId: account.id, relation: 'local_account.password', correlationId } as const
    return changeOwn(order, async (change, own) => {
      // Somebody else has changed it since it was proven.
      if (own.password_hash !== account.password_hash) return false
      const ended = await deps.sessions.endOthersOf(change, own.principal_id, sessionId)
      const values = { password_hash: hash, must_change_password: false, signed_out_at: at, updated_at: at }
      await store.updateAccount(change.db, own.id, values)
      announceUpdate(change, own)
      return { sessions_revoked: ended }
    })
  }

  return async (change) => {
    const { account, current, next } = change
    const weakness = weaknessOf(next, account.login)
    if (weakness !== undefined) return weakness
    const isRight = await proves(change)
    if (isRight !== true) return isRight === undefined ? 'busy' : 'wrong'
    if (next.normalize('NFKC') === current.normalize('NFKC')) return 'the old one'
    const hash = await unlessBusy(hashing.hash(next))
    if (hash === undefined) return 'busy'
    if (!(await keepHash(change, hash))) return 'wrong'
    deps.onPasswordChanged?.(account.login)
    return undefined
  }
}
