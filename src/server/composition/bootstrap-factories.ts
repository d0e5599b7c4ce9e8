import type { Backend } from './backend.ts'
import { addDomain } from '../slices/domains/add-domain.ts'
import { newDomain } from '../slices/domains/domain.ts'
import type { BootstrapFactories } from '../first-run/bootstrap.ts'
import { addServiceIdentity, newServiceIdentity } from '../slices/identities/add-service-identity.ts'
import { patchServiceIdentity } from '../slices/identities/change-service-identity.ts'
import { pseudonymOf } from '../slices/identities/pseudonym.ts'
import { addProject } from '../slices/projects/add-project.ts'
import { issueToken } from '../slices/tokens/change-tokens.ts'
import { createOwnedTokens } from '../slices/tokens/owned-tokens.ts'
import { createMint } from '../slices/tokens/mint.ts'
import { lockOwner } from '../slices/tokens/store.ts'
import { lifetimeFrom } from '../slices/tokens/token.ts'

/** The slices' own ways of making what a first run needs. */
export function createBootstrapFactories({ ids, keyring, sealing }: Backend, env: string): BootstrapFactories {
  const mint = createMint({ ids, keyring, env })
  return {
    addDomain: (change, { id, slug, displayName, createdAt }) =>
      addDomain(change, newDomain(id, { slug, display_name: displayName }, createdAt)),
    addProject: (change, { id, domainId, slug, displayName, createdAt }) =>
      addProject(change, {
        id,
        domain_id: domainId,
        slug,
        display_name: displayName,
        created_at: createdAt,
        updated_at: createdAt,
      }),
    addServiceIdentity: async (change, identity) =>
      addServiceIdentity(change, await newServiceIdentity(identity, { keyring, sealing })),
    async enableServiceIdentity(change, { id, domainId, at }) {
      await patchServiceIdentity(change, { id, domainId, patch: { disabled: false }, at }, createOwnedTokens())
    },
    pseudonymOf: (domainId, subject) => pseudonymOf(keyring, domainId, subject),
    async issueToken(change, { ownerId, name, lifetimeSeconds, createdAt }) {
      const owner = await lockOwner(change.db, { id: ownerId, kind: 'service-identity' })
      if (owner === undefined) throw new Error('the bootstrap identity is gone')
      const lifetime = lifetimeFrom(createdAt.getTime(), lifetimeSeconds)
      const minted = await issueToken(change, mint, { owner, name, scopes: ['*'], lifetime, createdAt })
      if (minted === undefined) throw new Error('the bootstrap identity has as many tokens as it may have')
      return minted.token
    },
  }
}
