import { isRefusedKey } from './refused-key.ts'

/** Refusals that the same call gets again, besides those of the secret key. */
const FINAL: ReadonlySet<string> = new Set(['not_provisioned', 'same_peer', 'node_id_mismatch', 'forbidden', 'aborted'])

/** Whether a call that ended with the code is not to be repeated. */
export function isFinalRefusal(code: string): boolean {
  return FINAL.has(code) || isRefusedKey(code)
}
