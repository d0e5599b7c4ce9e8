import type { AdapterFactory } from 'oidc-provider'
import type { LocalAccount } from '../../ports/local-sign-in.ts'
import { acrOf, wantsMultiFactor } from './assurance.ts'
import type { TotpDraft } from './pages/steps.ts'

/** The progress of an interaction. Stored sealed on the server; the browser has only its id. */
export interface Progress {
  /** Known once a password or passkey was right. */
  readonly accountId?: string
  /** The time at which the account's sign-ins were last ended, read when this one proved its first factor. */
  readonly signedOutAtMs?: number | undefined
  /** RFC 8176, in the order in which they were given. */
  readonly amr: readonly string[]
  /** The typed login, to be shown again. */
  readonly login: string
  /** Whether the person asked to set up a second factor, or another one, and has neither done it nor said "not now". */
  readonly wantsToEnrol: boolean
  readonly totp?: TotpDraft
  /** Whether a recovery code replaced the second factor: the device may be lost. */
  readonly isRecovered?: true
  /** Codes that the person must keep; they are not valid before the person confirms that. */
  readonly recoveryCodes?: readonly string[] | undefined
  /** The challenge that the next passkey must sign; valid for one answer. */
  readonly challenge?: string
}

export type Step = 'sign-in' | 'new-password' | 'second-factor' | 'enrol' | 'recovery-codes' | 'done'

export const NEW_PROGRESS: Progress = { amr: [], login: '', wantsToEnrol: false }

/**
 * The progress that is still valid. A password change, a reset and a sign-out end the sign-ins of an account; they also
 * discard the progress of a running sign-in.
 */
export function validProgress(progress: Progress, account: LocalAccount | undefined): Progress {
  if (progress.accountId === undefined) return progress
  const isValid = account !== undefined && account.signedOutAtMs === progress.signedOutAtMs
  return isValid ? progress : { ...NEW_PROGRESS, login: progress.login }
}

/** The next step. */
export function stepOf(progress: Progress, account: LocalAccount | undefined, wanted: readonly string[]): Step {
  if (account === undefined) return 'sign-in'
  const hasFactors = account.hasTotp || account.passkeys.length > 0
  const isMulti = acrOf(progress.amr) === 'mfa'
  // The second factor first: a person with only the password must not change it.
  if (hasFactors && !isMulti) return 'second-factor'
  if (account.mustChangePassword) return 'new-password'
  const mustEnrol = wantsMultiFactor(wanted) && !isMulti
  if (mustEnrol || progress.wantsToEnrol) return 'enrol'
  return progress.recoveryCodes === undefined ? 'done' : 'recovery-codes'
}

/** Adds a method, and `mfa` once there are two. */
export function withMethod(amr: readonly string[], methods: readonly string[]): readonly string[] {
  const all = [...new Set([...amr.filter((method) => method !== 'mfa'), ...methods])]
  const isMulti = amr.length > 0 || methods.includes('mfa')
  return isMulti ? [...all.filter((method) => method !== 'mfa'), 'mfa'] : all
}

export interface ProgressStore {
  read(uid: string): Promise<Progress>
  write(uid: string, progress: Progress, ttlSeconds: number): Promise<void>
  forget(uid: string): Promise<void>
}

/** Stores the progress beside the provider's own state of the interaction, in the same way. */
export function createProgressStore(adapters: AdapterFactory): ProgressStore {
  const adapter = adapters('Progress')
  return {
    async read(uid) {
      const stored = await adapter.find(uid)
      // `write` below stored it under that name.
      return (stored?.['progress'] as Progress | undefined) ?? NEW_PROGRESS
    },
    write: async (uid, progress, ttlSeconds) => {
      await adapter.upsert(uid, { progress }, ttlSeconds)
    },
    forget: async (uid) => {
      await adapter.destroy(uid)
    },
  }
}
