import { PLATFORM } from '../../shared/ids.ts'
import type { IdSource } from '../ports/clock.ts'
import type { Change } from '../ports/unit-of-work.ts'
import * as store from './store.ts'

/** The id and the creation time of a new object. */
export interface NewObject {
  readonly id: string
  readonly createdAt: Date
}

/**
 * Functions of the slices that create objects, the same as for requests. The composition root passes them, since a
 * slice imports no other.
 */
export interface BootstrapFactories {
  addDomain(change: Change, domain: NewObject & { readonly slug: string; readonly displayName: string }): Promise<void>
  addProject(
    change: Change,
    project: NewObject & { readonly domainId: string; readonly slug: string; readonly displayName: string },
  ): Promise<void>
  addServiceIdentity(
    change: Change,
    identity: NewObject & { readonly domainId: string; readonly subject: string; readonly displayName: string },
  ): Promise<void>
  /** Enables a disabled service identity. */
  enableServiceIdentity(
    change: Change,
    identity: { readonly id: string; readonly domainId: string; readonly at: Date },
  ): Promise<void>
  /** The pseudonym of a subject in its Domain. */
  pseudonymOf(domainId: string, subject: string): string
  /** Issues a token with every scope to a service identity; resolves with its plaintext. */
  issueToken(
    change: Change,
    token: {
      readonly ownerId: string
      readonly name: string
      readonly lifetimeSeconds: number
      readonly createdAt: Date
    },
  ): Promise<string>
}

export interface BootstrapDeps {
  readonly factories: BootstrapFactories
  readonly ids: IdSource
  /** Lifetime of the token, s. Default 90 days (decisions: First run). */
  readonly tokenSeconds?: number
}

/** Slug of the first Domain, and of its Project. */
export const DEFAULT_SLUG = 'default'
const SUBJECT = 'bootstrap'
const TOKEN_SECONDS = 90 * 86_400

/**
 * Creates the missing objects that a first sign-in needs: the Domain `default`, a Project in it, and the bootstrap
 * identity with its grants. Then issues a token to that identity and resolves with its plaintext.
 */
export async function bootstrap(change: Change, at: Date, deps: BootstrapDeps): Promise<string> {
  const domainId = (await store.findDomainId(change.db, DEFAULT_SLUG)) ?? (await addDefaultDomain(change, at, deps))
  const ownerId = await findOrAddIdentity(change, { at, domainId }, deps)
  const subject = `serviceaccount:${ownerId}`
  await change.tuples.create({ subject, relation: 'admin', resource: PLATFORM }, { domainId: null, projectId: null })
  await change.tuples.create(
    { subject, relation: 'auditor', resource: `domain:${domainId}` },
    { domainId, projectId: null },
  )
  return deps.factories.issueToken(change, {
    ownerId,
    name: SUBJECT,
    lifetimeSeconds: deps.tokenSeconds ?? TOKEN_SECONDS,
    createdAt: at,
  })
}

async function addDefaultDomain(change: Change, createdAt: Date, { factories, ids }: BootstrapDeps): Promise<string> {
  const domain = { id: ids.next(), slug: DEFAULT_SLUG, displayName: 'Default', createdAt }
  const project = { id: ids.next(), domainId: domain.id, slug: DEFAULT_SLUG, displayName: 'Default', createdAt }
  await factories.addDomain(change, domain)
  await factories.addProject(change, project)
  return domain.id
}

async function findOrAddIdentity(
  change: Change,
  { at, domainId }: { readonly at: Date; readonly domainId: string },
  { factories, ids }: BootstrapDeps,
): Promise<string> {
  const known = await store.findIdentity(change.db, domainId, factories.pseudonymOf(domainId, SUBJECT))
  if (known !== undefined) {
    const { id, isDisabled } = known
    if (isDisabled) await factories.enableServiceIdentity(change, { id, domainId, at })
    return id
  }
  const identity = { id: ids.next(), domainId, subject: SUBJECT, displayName: 'Bootstrap', createdAt: at }
  await factories.addServiceIdentity(change, identity)
  return identity.id
}
