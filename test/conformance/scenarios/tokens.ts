import type { adminTokens } from '../../../src/shared/contract/admin-tokens.ts'
import type { tokens } from '../../../src/shared/contract/tokens.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

const issue = { name: 'conformance', scopes: ['audit:read'], expires_in_seconds: 3600 }

/** Issues a token of root's own and tells its id. */
async function ownToken({ make }: World): Promise<string> {
  return (await make('PostAuthTokens', { body: issue })).id
}

async function tokenOfNobody({ make, identityId }: World): Promise<string> {
  return (await make('PostAdminTokens', { body: { ...issue, identity_ref: `service:${identityId}` } })).id
}

export const tokenScenarios: Scenarios<World, typeof tokens> = {
  PostAuthTokens: ({ root }) => ({ input: { body: issue }, as: root }),
  GetAuthTokens: ({ root }) => ({ input: {}, as: root }),
  async DeleteAuthTokenByID(world) {
    return { input: { id: await ownToken(world) }, as: world.root }
  },
  async PostAuthTokenRotate(world) {
    return { input: { id: await ownToken(world), body: { grace_seconds: 60 } }, as: world.root }
  },
  GetAuthWhoami: ({ nobody }) => ({ input: {}, as: nobody }),
}

export const adminTokenScenarios: Scenarios<World, typeof adminTokens> = {
  PostAdminTokens: ({ root, nobody, identityId }) => ({
    input: { body: { ...issue, identity_ref: `service:${identityId}` } },
    as: root,
    lesser: nobody,
  }),
  GetAdminTokens: ({ root, nobody, identityId }) => ({
    input: { identity_ref: `service:${identityId}` },
    as: root,
    lesser: nobody,
  }),
  async DeleteAdminTokenByID(world) {
    return { input: { id: await tokenOfNobody(world) }, as: world.root, lesser: world.nobody }
  },
  async PostAdminTokenRotate(world) {
    return { input: { id: await tokenOfNobody(world), body: {} }, as: world.root, lesser: world.nobody }
  },
}
