import type { TOTP } from 'otpauth'

/** How long each code is good for (RFC 6238 §5.2). */
export const TOTP_STEP_SECONDS = 30
const SECRET_BYTES = 20

/** The defaults of authenticator apps (RFC 6238: SHA-1, six digits, 30 seconds). */
async function totpOf(secret: string | undefined, login = ''): Promise<TOTP> {
  const { Secret, TOTP } = await import('otpauth')
  return new TOTP({
    issuer: 'ctl',
    label: login,
    algorithm: 'SHA1',
    digits: 6,
    period: TOTP_STEP_SECONDS,
    secret: secret === undefined ? new Secret({ size: SECRET_BYTES }) : Secret.fromBase32(secret),
  })
}

/** A new shared secret in base 32, and the address that shows it to an app. */
export async function draftTotp(login: string): Promise<{ readonly secret: string; readonly address: string }> {
  const totp = await totpOf(undefined, login)
  return { secret: totp.secret.base32, address: totp.toString() }
}

/** The time step of the code, at most one step from now; undefined when it matches none. */
export async function stepOf(secret: string, code: string, nowMs: number): Promise<number | undefined> {
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return undefined
  const totp = await totpOf(secret)
  const delta = totp.validate({ token, timestamp: nowMs, window: 1 })
  return delta === null ? undefined : Math.floor(nowMs / 1000 / TOTP_STEP_SECONDS) + delta
}
