import { createPublicKey, type KeyObject } from 'node:crypto'
import { problem, type Problem } from '../../../shared/problems.ts'

/** Members that only private and symmetric keys have (RFC 7518 §6.2.2, §6.3.2, §6.4.1; RFC 8037 §2). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

const CURVES: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])
const RSA_BITS_MIN = 2048

/** A key set as a request carries it (RFC 7517 §5). */
export interface SentJwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

/**
 * Refuses a key set with anything but public keys that verify signatures: RSA from 2048 bits, EC on P-256, P-384 or
 * P-521, Ed25519. A set with a private or symmetric key is not stored.
 * @throws Problem `invalid_service_identity`
 */
export function requirePublicKeys({ keys }: SentJwks): void {
  for (const [index, key] of keys.entries()) {
    if (PRIVATE_MEMBERS.some((member) => member in key)) throw refused(index, 'must be a public key')
    if (key['use'] !== undefined && key['use'] !== 'sig') throw refused(index, 'must be a key for signatures')
    if (!verifiesSignatures(readKey(key))) {
      throw refused(index, 'must be RSA of 2048 bits or more, EC on P-256, P-384 or P-521, or Ed25519')
    }
  }
}

/** The key; undefined when Node's `crypto` does not support it. */
function readKey(key: Readonly<Record<string, unknown>>): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'jwk' })
  } catch {
    return undefined
  }
}

function verifiesSignatures(key: KeyObject | undefined): boolean {
  const { modulusLength = 0, namedCurve } = key?.asymmetricKeyDetails ?? {}
  if (key?.asymmetricKeyType === 'rsa') return modulusLength >= RSA_BITS_MIN
  if (key?.asymmetricKeyType === 'ec') return CURVES.has(namedCurve)
  return key?.asymmetricKeyType === 'ed25519'
}

function refused(index: number, detail: string): Problem {
  return problem('invalid_service_identity', { errors: [{ pointer: `/jwks/keys/${index}`, detail }] })
}
