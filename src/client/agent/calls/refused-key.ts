const CODES: ReadonlySet<string> = new Set(['unauthorized', 'nsk_revoked'])

/** Whether the code means that the node secret key is invalid or revoked. */
export function isRefusedKey(code: string): boolean {
  return CODES.has(code)
}
