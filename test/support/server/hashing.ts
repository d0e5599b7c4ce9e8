import { createPasswordHashing } from '../../../src/server/slices/local-accounts/password-hash.ts'

/** Hashes passwords at little cost: tests do not wait for what slows an attacker down. */
export const hashing = createPasswordHashing({ log2N: 10, r: 8, p: 1 })
