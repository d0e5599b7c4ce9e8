import { problem } from '../../../shared/problems.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { IdpBinding } from '../../ports/idp-bindings.ts'
import type { Invitations } from '../../ports/invitations.ts'
import type { MirroredGroups, Mirroring } from '../../ports/mirrored-groups.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { externalSubjectOf, type User, type Users } from '../../ports/users.ts'
import type { Person } from './person.ts'
import * as store from './store.ts'
import { isWelcome } from './welcome.ts'

export interface ProvisioningDeps {
  readonly ids: IdSource
  readonly users: Users
  readonly invitations: Invitations
  readonly mirroredGroups: MirroredGroups
}

/** A person who signs in, the Domain and the binding. */
export interface SigningIn {
  readonly domainId: string
  readonly binding: IdpBinding
  readonly person: Person
  readonly at: Date
  /** Called with an existing user, before the sign-in can be refused. */
  readonly onKnown: (userId: string) => void
}

export interface SignedIn {
  readonly user: User
  readonly isNew: boolean
  readonly mirroring: Mirroring
}

/**
 * Finds the user of a person in the Domain, or creates one where an invitation or a rule admits them, and stores the provider's
 * facts about them.
 *
 * @throws Problem `user_disabled`, `not_invited`: nothing is created then.
 */
export async function findOrProvision(deps: ProvisioningDeps, change: Change, signingIn: SigningIn): Promise<SignedIn> {
  const { domainId, person, at } = signingIn
  const known = await findOrHold(deps, change, signingIn)
  if (known !== undefined) signingIn.onKnown(known.id)
  if (known?.isDisabled === true) throw problem('user_disabled')
  const user = known ?? (await provision(deps, change, signingIn))
  const seen = { displayName: person.name ?? user.displayName, email: person.email ?? null, at }
  await deps.users.signedIn(change, user.id, seen)
  const mirroring = await deps.mirroredGroups.mirror(change, { userId: user.id, domainId, names: person.groups })
  return { user, isNew: known === undefined, mirroring }
}

/** A first sign-in waits for others of its Domain and reads again: it may be the same person's second browser. */
async function findOrHold(
  { users }: ProvisioningDeps,
  { db }: Change,
  { domainId, binding, person }: SigningIn,
): Promise<User | undefined> {
  const external = externalSubjectOf(binding, person.subject)
  const known = await users.find(db, domainId, external)
  if (known !== undefined) return known
  if (!(await store.holdArrivals(db, domainId))) throw problem('invalid_sign_in')
  return users.find(db, domainId, external)
}

async function provision(
  { ids, users, invitations }: ProvisioningDeps,
  change: Change,
  { domainId, binding, person, at }: SigningIn,
): Promise<User> {
  const { subject, email, name } = person
  const id = ids.next()
  const isInvited = email !== undefined && (await invitations.accept(change, { domainId, email, userId: id, at }))
  if (!isInvited && !isWelcome(binding, person)) throw problem('not_invited', {}, new Error(whyNot(person)))
  return users.add(change, {
    id,
    domainId,
    external: externalSubjectOf(binding, subject),
    bindingId: binding.id,
    createdAt: at,
    displayName: name ?? `User ${id.slice(-8)}`,
    email: email ?? null,
  })
}

function whyNot({ email }: Person): string {
  return email === undefined
    ? 'the provider names no verified address, and the binding does not let the person in'
    : 'no open invitation has the address, and the binding does not let the person in'
}
