import type { ReadSection } from './vici-message.ts'

/** Strongest first: encryption, integrity or pseudorandom function, and key exchange. */
const PROPOSALS = [
  row('aes256gcm16', 'AES_GCM_16', { ke: 'curve25519', keName: 'CURVE_25519' }),
  row('aes256gcm16', 'AES_GCM_16', { ke: 'ecp384', keName: 'ECP_384' }),
  row('aes128gcm16', 'AES_GCM_16', { ke: 'ecp256', keName: 'ECP_256' }),
  row('aes256-sha256', 'AES_CBC', { ke: 'curve25519', keName: 'CURVE_25519' }),
  row('aes256-sha256', 'AES_CBC', { ke: 'ecp256', keName: 'ECP_256' }),
  row('aes256-sha256', 'AES_CBC', { ke: 'modp3072', keName: 'MODP_3072' }),
  row('aes256-sha256', 'AES_CBC', { ke: 'modp2048', keName: 'MODP_2048' }),
]

function row(cipher: string, cipherName: string, { ke, keName }: { readonly ke: string; readonly keName: string }) {
  const isAead = cipher.endsWith('gcm16')
  return {
    ike: `${cipher}${isAead ? '-prfsha256' : ''}-${ke}`,
    esp: `${cipher}-${ke}`,
    needs: [cipherName, 'HMAC_SHA2_256_128', 'PRF_HMAC_SHA2_256', keName],
  }
}

/** What is offered to the other end. */
export interface Proposals {
  readonly ike: readonly string[]
  readonly esp: readonly string[]
}

/**
 * The proposals of which charon has every algorithm: which ones it has depends on the packages that are installed. `algorithms`: the
 * answer to `get-algorithms`, whose sections have names of algorithms.
 */
export function proposalsOf(algorithms: ReadSection): Proposals {
  const names = new Set(
    Object.values(algorithms).flatMap((section) => (isSection(section) ? Object.keys(section) : [])),
  )
  const rows = PROPOSALS.filter(({ needs }) => needs.every((name) => names.has(name)))
  return { ike: rows.map(({ ike }) => ike), esp: [...new Set(rows.map(({ esp }) => esp))] }
}

function isSection(value: ReadSection[string]): value is ReadSection {
  return typeof value === 'object' && !Array.isArray(value)
}
