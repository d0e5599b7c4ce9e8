/** A password alone. */
export const ACR_PASSWORD = 'pwd'
/** Two factors, or a passkey that asked for a finger, a face or a PIN. */
export const ACR_MULTI_FACTOR = 'mfa'

export type Acr = typeof ACR_PASSWORD | typeof ACR_MULTI_FACTOR

export const ACR_VALUES: readonly Acr[] = [ACR_PASSWORD, ACR_MULTI_FACTOR]

/** The assurance level of the methods (RFC 8176 `mfa`). */
export function acrOf(amr: readonly string[]): Acr {
  return amr.includes('mfa') ? ACR_MULTI_FACTOR : ACR_PASSWORD
}

/** Whether a sign-in of that strength satisfies the request; a stronger one counts, too. */
export function satisfies(acr: string | undefined, wanted: readonly string[]): boolean {
  if (wanted.length === 0 || acr === ACR_MULTI_FACTOR) return true
  return acr !== undefined && wanted.includes(acr)
}

/** Whether only several factors satisfy the request. Unknown values are ignored. */
export function wantsMultiFactor(wanted: readonly string[]): boolean {
  return wanted.includes(ACR_MULTI_FACTOR) && !wanted.includes(ACR_PASSWORD)
}
