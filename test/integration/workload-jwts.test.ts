import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createIssuers } from '../../src/server/adapters/oidc-issuers/issuers.ts'
import { createOutgoingFetch } from '../../src/server/adapters/outgoing-fetch/outgoing-fetch.ts'
import { createBearerJwtResolver } from '../../src/server/slices/bearer-jwts/bearer-jwt-resolver.ts'
import { createLastUses, type LastUses } from '../../src/server/http/auth/last-uses.ts'
import { mounted } from '../../src/server/http/request-context.ts'
import { createServiceIdentities } from '../../src/server/slices/identities/service-identities.ts'
import { createOwnedTokens } from '../../src/server/slices/tokens/owned-tokens.ts'
import { createIdentities } from '../../src/server/slices/identities/service.ts'
import { writeServiceSignIns } from '../../src/server/slices/identities/store.ts'
import { createUsers } from '../../src/server/slices/identities/users.ts'
import { createBindingDirectory } from '../../src/server/slices/idp-bindings/directory.ts'
import { createMint } from '../../src/server/slices/tokens/mint.ts'
import { createTokens } from '../../src/server/slices/tokens/service.ts'
import { identities } from '../../src/shared/contract/identities.ts'
import { tokens } from '../../src/shared/contract/tokens.ts'
import { bindingSurface } from '../support/sign-in/bindings.ts'
import { START_MS } from '../support/server/test-backend.ts'
import type { Backend } from '../../src/server/composition/backend.ts'
import { STORES } from '../support/datastores/stores.ts'
import { DISCOVERY, startStubIssuer, type StubIssuer } from '../support/sign-in/stub-issuer.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'
import { NOW, signingKey, type SigningKey } from '../support/sign-in/workloads.ts'

const MAIN = 'repo:acme/web:ref:refs/heads/main'
const HERE = 'https://ctl.example'

describe.each(STORES)('jobs with the tokens of their own issuer on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: Tenancy
    let issuer: StubIssuer
    let key: SigningKey
    let signIns: LastUses
    let domainId: string
    let identityId: string
    const failures: unknown[] = []

    beforeAll(async () => {
      plane = await startTenancy(store, (parts: Backend) => {
        const { datastore, clock } = parts
        signIns = createLastUses({
          write: (uses) => writeServiceSignIns(datastore.pool('worker'), uses),
          onFailure: (error) => void failures.push(error),
        })
        const resolver = createBearerJwtResolver({
          ...parts,
          bindings: createBindingDirectory(parts),
          issuers: createIssuers({ fetch: createOutgoingFetch(), clock }),
          users: createUsers(parts),
          workloads: createServiceIdentities(parts),
          workloadSignIns: signIns,
        })
        const mint = createMint({ ...parts, env: 'test' })
        const surfaces = [
          mounted(tokens, createTokens({ datastore, mint })),
          mounted(identities, createIdentities({ ...parts, ownedTokens: createOwnedTokens() })),
          bindingSurface(parts, { ended: [], forgotten: [] }),
        ]
        return { surfaces, resolvers: [resolver] }
      })
      issuer = await startStubIssuer()
      key = await signingKey('k1', { alg: 'RS256' })
      // What GitHub publishes of itself: nothing to sign in with.
      issuer.on(DISCOVERY, {
        issuer: issuer.url,
        jwks_uri: `${issuer.url}/.well-known/jwks`,
        subject_types_supported: ['public', 'pairwise'],
        response_types_supported: ['id_token'],
        claims_supported: ['sub', 'aud', 'exp', 'iat', 'iss', 'jti', 'nbf', 'ref', 'repository'],
        id_token_signing_alg_values_supported: ['RS256'],
        scopes_supported: ['openid'],
      })
      issuer.on('/.well-known/jwks', { keys: [{ ...key.publicJwk, alg: 'RS256' }] })
      domainId = await plane.domain()
      await bind(domainId, HERE)
      identityId = await workload(domainId, MAIN)
    })
    afterAll(async () => {
      await signIns.flush()
      await plane.stop()
      await issuer.stop()
    })

    async function bind(domain: string, audience: string): Promise<string> {
      const body = { label: 'GitHub Actions', issuer: issuer.url, client_id: 'none', sign_in: false }
      const answer = await plane.call(plane.root, `POST /v1/admin/idp?domain_id=${domain}`, {
        ...body,
        alias: `github-${audience.length}`,
        api_audience: audience,
        allow_private_network: true,
      })
      expect(answer.status).toBe(201)
      return String(answer.body['id'])
    }
    async function workload(domain: string, sub: string): Promise<string> {
      const body = { display_name: 'Deploys of web', subject: `${issuer.url}#${sub}` }
      const answer = await plane.call(plane.root, `POST /v1/domains/${domain}/service-identities`, body)
      expect(answer.status).toBe(201)
      return String(answer.body['id'])
    }
    let serial = 0
    /** With the header and the claims that GitHub's have. */
    const sign = (over: object = {}) => {
      serial += 1
      const claims = {
        jti: `gh-${serial}`,
        sub: MAIN,
        aud: HERE,
        ref: 'refs/heads/main',
        repository: 'acme/web',
        iss: issuer.url,
        nbf: NOW - 600,
        exp: NOW + 900,
        iat: NOW,
      }
      return key.sign({ ...claims, ...over }, { typ: 'JWT', x5t: 'abc' })
    }
    const whoami = async (token: string) => {
      const { status, body } = await plane.call(token, 'GET /v1/auth/whoami')
      return [status, body['subject'] ?? body['code']]
    }

    it('are the service identity that is named after issuer and subject', async () => {
      expect(await whoami(await sign())).toEqual([200, `serviceaccount:${identityId}`])
    })

    it('are refused from another branch, another repository and a pull request', async () => {
      for (const sub of [
        'repo:acme/web:ref:refs/heads/x',
        'repo:eve/web:ref:refs/heads/main',
        'repo:acme/web:pull_request',
      ]) {
        expect(await whoami(await sign({ sub }))).toEqual([401, 'unauthenticated'])
      }
    })

    it('are an identity of the Domain alone whose binding takes the audience', async () => {
      const other = await plane.domain()
      await bind(other, `${HERE}/other`)
      expect(await whoami(await sign({ aud: `${HERE}/other` }))).toEqual([401, 'unauthenticated'])
      const twin = await workload(other, MAIN)
      expect(await whoami(await sign({ aud: `${HERE}/other` }))).toEqual([200, `serviceaccount:${twin}`])
      expect(await whoami(await sign())).toEqual([200, `serviceaccount:${identityId}`])
      expect(await whoami(await sign({ aud: [HERE, `${HERE}/other`] }))).toEqual([401, 'unauthenticated'])
    })

    it('do what the identity was given, and no more', async () => {
      const answer = await plane.call(await sign(), `GET /v1/domains/${domainId}/identities`)
      expect([answer.status, answer.body['code']]).toEqual([403, 'permission_denied'])
      const role = { subject: `serviceaccount:${identityId}`, relation: 'operator' }
      expect((await plane.call(plane.root, `POST /v1/domains/${domainId}/grants`, role)).status).toBe(201)
      expect((await plane.call(await sign(), `GET /v1/domains/${domainId}/identities`)).status).toBe(200)
    })

    it('make no API token of the token that is gone in minutes', async () => {
      const answer = await plane.call(await sign(), 'POST /v1/auth/tokens', { name: 'for-ever' })
      expect([answer.status, answer.body['code']]).toEqual([401, 'unauthenticated'])
    })

    it('show when the identity authenticated last, to the minute', async () => {
      const shown = async () => {
        await signIns.flush()
        const { body } = await plane.call(plane.root, `GET /v1/domains/${domainId}/identities/${identityId}`)
        return body['last_sign_in_at']
      }
      await plane.db.updateTable('principals').set({ last_sign_in_at: null }).where('id', '=', identityId).execute()
      signIns.note(identityId, START_MS)
      expect(await shown()).toBe('2026-03-01T08:00:00.000Z')
      signIns.note(identityId, START_MS + 59_000)
      expect(await shown()).toBe('2026-03-01T08:00:00.000Z')
      plane.clock.nowMs = START_MS + 60_000
      await whoami(await sign())
      expect(await shown()).toBe('2026-03-01T08:01:00.000Z')
      plane.clock.nowMs = START_MS
      expect(failures).toEqual([])
    })
  })
})
