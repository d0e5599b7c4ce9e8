import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Keyring } from '../../ports/keyring.ts'

/** Keeps forms of other sites out. */
export interface FormGuard {
  /** The token in a form of the interaction. */
  tokenOf(uid: string): string
  /** Whether a form was sent from a page of this provider: its token, and the origin that the browser names. */
  accepts(request: IncomingMessage, uid: string, token: string | null): boolean
}

/** The browser is bound to the interaction by a cookie that other sites' forms do not carry; this is a second protection. */
export function createFormGuard(keyring: Keyring, origin: string): FormGuard {
  const textOf = (uid: string): string => `bundled provider form ${uid}`
  return {
    tokenOf: (uid) => keyring.mac('session', textOf(uid)).mac.toString('base64url'),
    accepts({ headers }, uid, token) {
      if (token === null || (headers.origin !== undefined && headers.origin !== origin)) return false
      const site = headers['sec-fetch-site']
      if (site !== undefined && site !== 'same-origin') return false
      const given = Buffer.from(token, 'base64url')
      return keyring.keyIds('session').some((keyId) => {
        const mac = keyring.macWith('session', keyId, textOf(uid))
        return mac !== undefined && mac.length === given.length && timingSafeEqual(mac, given)
      })
    },
  }
}

/** Keys of the provider's cookies, the current one first. */
export function cookieKeysOf(keyring: Keyring): string[] {
  return keyring.keyIds('session').flatMap((keyId) => {
    const mac = keyring.macWith('session', keyId, 'bundled provider cookies')
    return mac === undefined ? [] : [mac.toString('base64url')]
  })
}
