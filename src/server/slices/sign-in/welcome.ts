import type { IdpBinding } from '../../ports/idp-bindings.ts'
import type { Person } from './person.ts'

/** Whether the binding lets this person in without an invitation: by the domain of a verified address, or by a group. */
export function isWelcome(
  { autoProvision }: Pick<IdpBinding, 'autoProvision'>,
  { email, groups }: Pick<Person, 'email' | 'groups'>,
): boolean {
  if (autoProvision === null) return false
  const domain = email?.slice(email.lastIndexOf('@') + 1)
  const isOfDomain = autoProvision.emailDomains.some((allowed) => allowed.toLowerCase() === domain)
  return isOfDomain || autoProvision.groups.some((allowed) => groups.includes(allowed))
}
