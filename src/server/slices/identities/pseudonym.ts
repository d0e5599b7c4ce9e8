import type { Keyring } from '../../ports/keyring.ts'
import type { ExternalSubject } from '../../ports/users.ts'
import { externalSubjectText } from './external-subject.ts'

/**
 * The pseudonym of an external subject within one Domain: HMAC-SHA-256 over Domain and subject, 64 hex digits. The same
 * subject has unrelated pseudonyms in two Domains.
 *
 * It is also what makes a subject unique, so it must never change: the key is always the ring's oldest of the purpose,
 * and a younger one that a rotation adds is not used. To retire the oldest, a job has to open every sealed subject,
 * store its new pseudonym and drop the key in one transaction.
 */
export function pseudonymOf(keyring: Keyring, domainId: string, subject: string): string {
  return hexMac(keyring, `${domainId}:${subject}`)
}

/**
 * The pseudonym of a user. The HMAC input begins with a word that no Domain id begins with, so that no service
 * identity, whatever its subject, has the pseudonym of a user.
 */
export function userPseudonymOf(keyring: Keyring, domainId: string, external: ExternalSubject): string {
  return hexMac(keyring, `user:${domainId}:${externalSubjectText(external)}`)
}

function hexMac(keyring: Keyring, text: string): string {
  const keyId = keyring.keyIds('pseudonym').at(-1)
  const mac = keyId === undefined ? undefined : keyring.macWith('pseudonym', keyId, text)
  if (mac === undefined) throw new Error('the keyring has no pseudonym key')
  return mac.toString('hex')
}
