const CODES: ReadonlySet<string> = new Set(['unauthorized', 'nsk_revoked'])

/** Whether a refusal says that the node secret key is no longer one, or was revoked. */
export function isRefusedKey(code: string): boolean {
  return CODES.has(code)
}
