import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createIssuers } from '../../src/server/adapters/oidc-issuers/issuers.ts'
import { createOutgoingFetch } from '../../src/server/adapters/outgoing-fetch/outgoing-fetch.ts'
import { createBearerJwtResolver } from '../../src/server/slices/bearer-jwts/bearer-jwt-resolver.ts'
import { mounted } from '../../src/server/http/request-context.ts'
import { createServiceIdentities } from '../../src/server/slices/identities/service-identities.ts'
import { createUsers } from '../../src/server/slices/identities/users.ts'
import { createBindingDirectory } from '../../src/server/slices/idp-bindings/directory.ts'
import { createMint } from '../../src/server/slices/tokens/mint.ts'
import { createTokens } from '../../src/server/slices/tokens/service.ts'
import { tokens } from '../../src/shared/contract/tokens.ts'
import { START_MS } from '../support/server/test-backend.ts'
import type { Backend } from '../../src/server/composition/backend.ts'
import { STORES } from '../support/datastores/stores.ts'
import { discoveryOf, DISCOVERY, startStubIssuer, type StubIssuer } from '../support/sign-in/stub-issuer.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'
import { NOW, signingKey, type SigningKey } from '../support/sign-in/workloads.ts'

const API = 'https://ctl.example/api'

describe.each(STORES)('access tokens of a real issuer on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: Tenancy
    let issuer: StubIssuer
    let key: SigningKey
    let bindingId: string
    let userId: string
    beforeAll(async () => {
      plane = await startTenancy(store, (parts: Backend) => {
        const { datastore, clock } = parts
        const resolver = createBearerJwtResolver({
          ...parts,
          bindings: createBindingDirectory(parts),
          issuers: createIssuers({ fetch: createOutgoingFetch(), clock }),
          users: createUsers(parts),
          workloads: createServiceIdentities(parts),
          workloadSignIns: { note: () => undefined },
        })
        const mint = createMint({ ...parts, env: 'test' })
        return { surfaces: [mounted(tokens, createTokens({ datastore, mint }))], resolvers: [resolver] }
      })
      issuer = await startStubIssuer()
      key = await signingKey('k1')
      issuer.on(DISCOVERY, discoveryOf(issuer.url))
      issuer.on('/keys', { keys: [key.publicJwk] })
      const domainId = await plane.domain()
      bindingId = plane.ids.next()
      userId = plane.ids.next()
      const at = new Date(START_MS)
      await plane.db
        .insertInto('idp_bindings')
        .values({
          id: bindingId,
          domain_id: domainId,
          alias: 'corp',
          label: 'Corp',
          issuer: issuer.url,
          client_id: 'ctl-web',
          client_secret_sealed: null,
          api_audience: API,
          algorithms: '["ES256"]',
          claims: JSON.stringify({ subject: 'sub', email: 'email', name: 'name', groups: null, domain: null }),
          required_acr: '[]',
          required_amr: '[]',
          is_primary: true,
          is_active: true,
          auto_provision: 'null',
          allow_private_network: true,
          created_at: at,
          updated_at: at,
        })
        .execute()
      const users = createUsers(plane)
      const external = { issuer: issuer.url, subject: 'ada' }
      await plane.change((change) =>
        users.add(change, {
          id: userId,
          domainId,
          external,
          bindingId,
          createdAt: at,
          displayName: 'Ada',
          email: 'ada@corp.example',
        }),
      )
    })
    afterAll(async () => {
      await plane.stop()
      await issuer.stop()
    })

    let serial = 0
    const sign = (by: SigningKey = key) => {
      serial += 1
      const claims = { iss: issuer.url, sub: 'ada', aud: API, iat: NOW, exp: NOW + 3600, jti: `r-${serial}` }
      return by.sign(claims, { typ: 'at+jwt' })
    }
    const whoami = (token: string) => plane.call(token, 'GET /v1/auth/whoami')
    const keysAsked = () => issuer.asked.filter((path) => path === '/keys').length

    it('are those of the user who signed in through the binding', async () => {
      const answer = await whoami(await sign())
      expect([answer.status, answer.body['subject'], answer.body['display_name']]).toEqual([
        200,
        `user:${userId}`,
        'Ada',
      ])
    })

    it('with unknown keys make the server ask its issuer once a minute, however many come', async () => {
      const strangers = await Promise.all(['x1', 'x2', 'x3'].map((kid) => signingKey(kid)))
      const before = keysAsked()
      plane.clock.nowMs = START_MS + 60_000
      for (const stranger of strangers) expect((await whoami(await sign(stranger))).status).toBe(401)
      expect(keysAsked()).toBe(before + 1)
      const next = await signingKey('k2')
      issuer.on('/keys', { keys: [key.publicJwk, next.publicJwk] })
      plane.clock.nowMs = START_MS + 120_000
      expect((await whoami(await sign(next))).status).toBe(200)
      expect(keysAsked()).toBe(before + 2)
      plane.clock.nowMs = START_MS
    })

    it('end within a second when their user is disabled or their binding switched off', async () => {
      const token = await sign()
      expect((await whoami(token)).status).toBe(200)
      const disable = (at: Date | null) =>
        plane.db.updateTable('principals').set({ disabled_at: at }).where('id', '=', userId).execute()
      await disable(new Date(START_MS))
      plane.clock.nowMs = START_MS + 1000
      expect((await whoami(token)).status).toBe(401)
      await disable(null)
      plane.clock.nowMs = START_MS + 2000
      expect((await whoami(token)).status).toBe(200)
      await plane.db.updateTable('idp_bindings').set({ is_active: false }).where('id', '=', bindingId).execute()
      plane.clock.nowMs = START_MS + 3000
      expect((await whoami(token)).status).toBe(401)
    })
  })
})
