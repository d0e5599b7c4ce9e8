import { createHash } from 'node:crypto'
import type { FactorPolicy } from './factor-policy.ts'
import type { AccountRecord } from './store.ts'
import type { PasskeyRecord } from './sign-in-store.ts'
import { TOTP_STEP_SECONDS } from './totp.ts'

/** A second factor of an account. */
export interface Factor {
  readonly id: string
  readonly kind: 'passkey' | 'totp'
  readonly label: string
  readonly createdAt: Date | null
  readonly lastUsedAt: Date | null
  /** Of a passkey. */
  readonly credentialId?: string
}

/** The factors of an account, the authenticator app first. */
export function factorsOf(account: AccountRecord, passkeys: readonly PasskeyRecord[]): readonly Factor[] {
  return account.totp_sealed === null
    ? passkeys.map(passkeyFactor)
    : [appFactor(account), ...passkeys.map(passkeyFactor)]
}

function appFactor({ id, totp_enrolled_at: createdAt, totp_last_step: step }: AccountRecord): Factor {
  const lastUsedAt = step === null ? null : new Date(Number(step) * TOTP_STEP_SECONDS * 1000)
  return { id: uuidOf(`totp:${id}`), kind: 'totp', label: 'Authenticator app', createdAt, lastUsedAt }
}

function passkeyFactor({ credential_id: credentialId, label, created_at, last_used_at }: PasskeyRecord): Factor {
  const id = uuidOf(`passkey:${credentialId}`)
  return { id, kind: 'passkey', label, createdAt: created_at, lastUsedAt: last_used_at, credentialId }
}

/** A stable name that reveals nothing about the credential (RFC 9562 §5.8). */
function uuidOf(name: string): string {
  const bytes = createHash('sha256').update(name).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Methods of RFC 8176 that one kind of factor alone proves. */
const KIND_OF_METHOD: Readonly<Record<string, Factor['kind']>> = {
  otp: 'totp',
  hwk: 'passkey',
  swk: 'passkey',
  user: 'passkey',
}

/** The `acr` and `amr` of a sign-in with several factors. */
export const MULTI_FACTOR = 'mfa'

/** Whether the policy requires the factor: without it, anyone who has only the password could enrol the next one. */
export function isRequired(factor: Factor, all: readonly Factor[], policy: FactorPolicy): boolean {
  const others = all.filter(({ id }) => id !== factor.id)
  if (others.length === 0 && wantsSeveral(policy)) return true
  return policy.requiredAmr.some((method) => {
    const kind = KIND_OF_METHOD[method]
    return kind === factor.kind && !others.some((other) => other.kind === kind)
  })
}

/** A policy that names the password beside several factors accepts the password alone. */
function wantsSeveral({ requiredAmr, requiredAcr, strongAcr }: FactorPolicy): boolean {
  const isAsked = (acr: readonly string[]): boolean => acr.includes(MULTI_FACTOR) && !acr.includes('pwd')
  return requiredAmr.includes(MULTI_FACTOR) || isAsked(requiredAcr) || isAsked(strongAcr)
}
