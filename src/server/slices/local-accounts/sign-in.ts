import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { Keyring, SealedPlace, Sealing } from '../../ports/keyring.ts'
import type { LocalAccount, LocalPasskey, LocalSignIn } from '../../ports/local-sign-in.ts'
import type { Sessions } from '../../ports/sessions.ts'
import type { AuditEntry, UnitOfWork } from '../../ports/unit-of-work.ts'
import { createGuessLimit, unlessBusy } from './guess-limit.ts'
import { announceUpdate, createChangeOwn, refusalOf } from './own-change.ts'
import type { PasswordHashing } from './password-hash.ts'
import { weaknessOf } from './password-rules.ts'
import { codesLeft } from './recovery-code-store.ts'
import { drawRecoveryCodes, replaceRecoveryCodes, useRecoveryCode } from './recovery-codes.ts'
import * as guesses from './sign-in-store.ts'
import * as store from './store.ts'
import { draftTotp, stepOf } from './totp.ts'

export interface LocalSignInDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly sealing: Sealing
  readonly keyring: Keyring
  readonly sessions: Pick<Sessions, 'endAllOf'>
  readonly hashing: PasswordHashing
  readonly clock: Clock
  readonly ids: IdSource
  /** Takes the audit row of a refusal without waiting for it: waiting would distinguish known logins from others. */
  readonly onRefused: (entry: AuditEntry) => void
  /** Called when a person has replaced the one-time password. */
  readonly onPasswordChanged?: ((login: string) => void) | undefined
}

const PASSKEYS_MAX = 10

/** Signs people in with the accounts of this slice. */
export function createLocalSignIn(deps: LocalSignInDeps): LocalSignIn {
  const { datastore, hashing, clock } = deps
  const db = (): Db => datastore.pool('interactive')
  const now = (): Date => new Date(clock.now())
  const count = createGuessLimit(deps)
  const change = createChangeOwn(deps)

  async function load(account: guesses.PlacedAccount | undefined): Promise<LocalAccount | undefined> {
    if (account === undefined || account.disabled_at !== null) return undefined
    const [passkeys, { count: codes }] = await Promise.all([
      guesses.passkeysOf(db(), account.id),
      codesLeft(db(), account.id),
    ])
    return toAccount(account, passkeys, codes)
  }

  /** Counts the guess and checks it; `isRight` is undefined, and nothing counted, where hashing is busy. */
  async function guessPassword(account: guesses.PlacedAccount | undefined, password: string) {
    // In parallel, so that the write for a known login takes no longer than for an unknown one.
    const [isCounted, isRight] = await Promise.all([
      account === undefined ? false : count(account.id),
      unlessBusy(hashing.matches(password, account?.password_hash)),
    ])
    if (account !== undefined && isCounted && isRight === undefined) await guesses.uncountGuess(db(), account.id)
    return { isCounted, isRight }
  }

  /** Only here is the password known. If this fails, the next sign-in tries again. */
  async function strengthen({ id, password_hash: old }: guesses.PlacedAccount, password: string): Promise<void> {
    if (!hashing.isOutdated(old)) return
    const fresh = await unlessBusy(hashing.hash(password))
    if (fresh !== undefined) await guesses.replaceHash(db(), id, { old, fresh })
  }

  function refuse(account: guesses.PlacedAccount, reason: string): void {
    deps.onRefused(refusalOf(account, { relation: 'local_account.sign_in', reason, correlationId: deps.ids.next() }))
  }

  return {
    find: async (id) => load(await guesses.findById(db(), id)),

    async tryPassword({ login, password }) {
      const account = await guesses.findByLogin(db(), login.trim().toLowerCase())
      const { isCounted, isRight } = await guessPassword(account, password)
      if (isRight === undefined) return 'busy'
      if (account === undefined) return 'refused'
      if (!isCounted || !isRight || account.disabled_at !== null) {
        refuse(account, reasonOf(isCounted, isRight))
        return 'refused'
      }
      await guesses.forgiveGuess(db(), account.id)
      await strengthen(account, password)
      return (await load(account)) ?? 'refused'
    },

    async changePassword({ accountId, password }) {
      const account = await guesses.findById(db(), accountId)
      if (account === undefined) throw new Error('the account is gone')
      const weakness = weaknessOf(password, account.login)
      if (weakness !== undefined) return weakness
      const isOld = await unlessBusy(hashing.matches(password, account.password_hash))
      if (isOld !== false) return isOld === undefined ? 'busy' : 'the old one'
      const hash = await unlessBusy(hashing.hash(password))
      if (hash === undefined) return 'busy'
      const at = now()
      const isChanged = await change({ accountId, relation: 'local_account.password' }, async (tx, own) => {
        // Somebody else has changed it since it was read.
        if (own.password_hash !== account.password_hash) return false
        await deps.sessions.endAllOf(tx, own.principal_id)
        const values = { password_hash: hash, must_change_password: false, signed_out_at: at, updated_at: at }
        return (await store.updateAccount(tx.db, accountId, values)) && {}
      })
      if (isChanged) deps.onPasswordChanged?.(account.login)
      return { signedOutAtMs: at.getTime() }
    },

    async tryCode({ accountId, code }) {
      const account = await guesses.findById(db(), accountId)
      if (account === undefined || account.totp_sealed === null || account.disabled_at !== null) return false
      if (!(await count(accountId))) {
        refuse(account, 'too_many_failures')
        return false
      }
      const step = await stepOf(await openTotp(deps.sealing, account.id, account.totp_sealed), code, clock.now())
      if (step === undefined || !(await guesses.takeStep(db(), accountId, step))) {
        refuse(account, 'wrong_code')
        return false
      }
      await guesses.forgiveGuess(db(), accountId)
      return true
    },

    async tryRecoveryCode({ accountId, code }) {
      const account = await guesses.findById(db(), accountId)
      if (account === undefined || account.disabled_at !== null) return false
      if (!(await count(accountId))) {
        refuse(account, 'too_many_failures')
        return false
      }
      const isUsed = await change({ accountId, relation: 'local_account.recovery_code' }, async (tx) => {
        if (!(await useRecoveryCode(tx.db, deps.keyring, { accountId, code }))) return false
        return { codes_left: (await codesLeft(tx.db, accountId)).count }
      })
      if (!isUsed) {
        refuse(account, 'wrong_recovery_code')
        return false
      }
      await guesses.forgiveGuess(db(), accountId)
      return true
    },

    draftRecoveryCodes: drawRecoveryCodes,

    async keepRecoveryCodes({ accountId, codes }) {
      await change({ accountId, relation: 'local_account.recovery_codes' }, async (tx, own) => {
        await replaceRecoveryCodes(tx.db, deps.keyring, { accountId, codes, at: now() })
        announceUpdate(tx, own)
        return {}
      })
    },

    draftTotp: ({ login }) => draftTotp(login),

    async enrolTotp({ accountId, secret, code }) {
      const step = await stepOf(secret, code, clock.now())
      if (step === undefined) return false
      const sealed = await deps.sealing.seal(totpPlace(accountId), Buffer.from(secret, 'ascii'))
      const values = { totp_sealed: sealed, totp_last_step: String(step), totp_enrolled_at: now(), updated_at: now() }
      const order = { accountId, relation: 'local_account.second_factor' } as const
      return change(order, async (tx) => (await store.updateAccount(tx.db, accountId, values)) && {})
    },

    async findPasskey(credentialId) {
      const passkey = await guesses.findPasskey(db(), credentialId)
      const account = passkey && (await load(await guesses.findById(db(), passkey.account_id)))
      return passkey && account && { account, passkey: toPasskey(passkey) }
    },

    usePasskey: ({ credentialId, counter }) => guesses.moveCounter(db(), credentialId, { counter, at: now() }),

    enrolPasskey: ({ accountId, passkey }) =>
      change({ accountId, relation: 'local_account.second_factor' }, async (tx) => {
        const isAdded = await guesses.insertPasskey(tx.db, passkeyRecord(accountId, passkey, now()), PASSKEYS_MAX)
        return isAdded && {}
      }),

    complete: ({ accountId }) =>
      change({ accountId, relation: 'local_account.sign_in' }, async (tx) => {
        const values = { last_sign_in_at: now(), failed_count: 0, locked_until: null }
        return (await store.updateAccount(tx.db, accountId, values)) && {}
      }),
  }
}

function reasonOf(isCounted: boolean, isRight: boolean): string {
  if (!isCounted) return 'too_many_failures'
  return isRight ? 'account_disabled' : 'wrong_password'
}

/** Where the secret of one-time codes is sealed. */
export function totpPlace(accountId: string): SealedPlace {
  return { table: 'local_accounts', column: 'totp_sealed', rowId: accountId }
}

async function openTotp(sealing: Sealing, accountId: string, sealed: Buffer): Promise<string> {
  return Buffer.from(await sealing.open(totpPlace(accountId), sealed)).toString('ascii')
}

function toAccount(
  account: guesses.PlacedAccount,
  passkeys: readonly guesses.PasskeyRecord[],
  recoveryCodes: number,
): LocalAccount {
  return {
    id: account.id,
    login: account.login,
    displayName: account.display_name,
    email: account.email,
    domain: account.domain,
    mustChangePassword: account.must_change_password,
    hasTotp: account.totp_sealed !== null,
    passkeys: passkeys.map(toPasskey),
    recoveryCodes,
    signedOutAtMs: account.signed_out_at?.getTime(),
  }
}

function toPasskey(row: guesses.PasskeyRecord): LocalPasskey {
  return {
    credentialId: row.credential_id,
    publicKey: new Uint8Array(row.public_key),
    counter: Number(row.counter),
    transports: row.transports,
  }
}

function passkeyRecord(accountId: string, passkey: LocalPasskey, at: Date): guesses.PasskeyRecord {
  return {
    credential_id: passkey.credentialId,
    account_id: accountId,
    public_key: Buffer.from(passkey.publicKey),
    counter: String(passkey.counter),
    transports: [...passkey.transports],
    label: 'Passkey',
    created_at: at,
    last_used_at: null,
  }
}
