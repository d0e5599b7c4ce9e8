import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { JWT_BEARER_ASSERTION } from '../../../src/shared/contract/oauth-schemas.ts'
import type { serviceToken } from '../../../src/shared/contract/service-token.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
const kid = 'conformance'
const publicJwk = { ...(await exportJWK(publicKey)), kid }

/** An assertion of a service identity of its own, good for one token. */
async function assertion({ make, url, domainId, name }: World): Promise<string> {
  const body = { display_name: 'Workload', subject: name(), jwks: { keys: [publicJwk] } }
  const { id } = await make('CreateServiceIdentity', { id: domainId, body })
  return new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg: 'ES256', kid })
    .setIssuer(id)
    .setSubject(id)
    .setAudience(`${url}/v1/auth/service/token`)
    .setExpirationTime('1m')
    .sign(privateKey)
}

export const serviceTokenScenarios: Scenarios<World, typeof serviceToken> = {
  async PostAuthServiceToken(world) {
    return {
      input: {
        body: {
          grant_type: 'client_credentials',
          client_assertion_type: JWT_BEARER_ASSERTION,
          client_assertion: await assertion(world),
          scope: 'audit:read',
        },
      },
    }
  },
  GetTrustBundles: ({ root, nobody, domainId }) => ({ input: { id: domainId }, as: root, lesser: nobody }),
  PutTrustBundles: ({ root, nobody, domainId }) => ({
    input: {
      id: domainId,
      body: {
        bundles: [{ trust_domain: 'example.org', jwks: { keys: [{ ...publicJwk, use: 'jwt-svid' }] } }],
      },
    },
    as: root,
    lesser: nobody,
  }),
}
