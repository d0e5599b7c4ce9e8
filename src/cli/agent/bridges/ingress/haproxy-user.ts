import { readFile } from 'node:fs/promises'
import { hasCapabilities } from '../../system/privileges.ts'

const USER = 'haproxy'
/** CAP_SETGID and CAP_SETUID of linux/capability.h. */
const [SETGID_BIT, SETUID_BIT] = [6n, 7n]

/** The user to which HAProxy changes: that of its package, where it is there and this process may change users. */
export async function haproxyUser(): Promise<string | undefined> {
  if (!hasCapabilities([SETGID_BIT, SETUID_BIT])) return undefined
  const [users, groups] = await Promise.all(['/etc/passwd', '/etc/group'].map((file) => readFile(file, 'utf8')))
  const isNamed = new RegExp(`^${USER}:`, 'm')
  return isNamed.test(users ?? '') && isNamed.test(groups ?? '') ? USER : undefined
}
