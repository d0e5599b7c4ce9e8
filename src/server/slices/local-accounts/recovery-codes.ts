import { isFingerprintOf } from '../../http/auth/stored-fingerprint.ts'
import type { Db } from '../../ports/datastore.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { drawGroups } from './password-rules.ts'
import * as store from './recovery-code-store.ts'

const CODES = 10
/** Groups of five characters: 71 bits. */
const GROUPS = 3

/** New recovery codes, all different. */
export function drawRecoveryCodes(): readonly string[] {
  const codes = new Set<string>()
  while (codes.size < CODES) codes.add(drawGroups(GROUPS))
  return [...codes]
}

/** A code as it was generated, from what a person typed: hyphens, spaces and capitals do not matter. */
function lettersOf(code: string): string {
  return code.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** The hash input of a code: bound to one account and distinct from other credentials. */
function textOf(accountId: string, code: string): string {
  return `recovery code of ${accountId}: ${lettersOf(code)}`
}

/** Stores the codes in place of the account's former ones. */
export function replaceRecoveryCodes(
  db: Db,
  keyring: Keyring,
  { accountId, codes, at }: { readonly accountId: string; readonly codes: readonly string[]; readonly at: Date },
): Promise<void> {
  const rows = codes.map((code) => {
    const { keyId, mac } = keyring.mac('fingerprint', textOf(accountId, code))
    return { account_id: accountId, fingerprint: mac, fingerprint_key_id: keyId, created_at: at }
  })
  return store.replaceCodes(db, accountId, rows)
}

/** Uses up the code; false when it is none of the account's, or another sign-in was first. Each of them is compared, in constant time. */
export async function useRecoveryCode(
  db: Db,
  keyring: Keyring,
  { accountId, code }: { readonly accountId: string; readonly code: string },
): Promise<boolean> {
  const presented = textOf(accountId, code)
  const rows = await store.codesOf(db, accountId)
  const [match] = rows.filter((row) => isFingerprintOf(keyring, presented, row))
  return match !== undefined && store.deleteCode(db, match)
}
