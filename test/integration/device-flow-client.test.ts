import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDevicePlane, type DevicePlane } from '../support/sign-in/device-plane.ts'
import { STORES } from '../support/datastores/stores.ts'

/** A client library of another hand, as a device uses it. */
describe.each(STORES)('openid-client against the device flow on the $name datastore', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: DevicePlane
    let config: oidc.Configuration
    beforeAll(async () => {
      plane = await startDevicePlane(store)
      config = new oidc.Configuration(
        {
          issuer: plane.url,
          device_authorization_endpoint: `${plane.url}/v1/auth/device-code`,
          token_endpoint: `${plane.url}/v1/auth/device-token`,
        },
        'tv',
        undefined,
        oidc.None(),
      )
      oidc.allowInsecureRequests(config)
      // The library's own pauses pass on the clock of the server.
      config[oidc.customFetch] = async (url, init) => {
        if (url.endsWith('/device-token')) plane.clock.nowMs += 5_000
        return fetch(url, { ...init, body: init.body ?? null })
      }
    })
    afterAll(() => plane?.stop())

    /** Begins, and asks on every 10 ms of the test's own time. */
    async function begin(scope: string) {
      const codes = await oidc.initiateDeviceAuthorization(config, { scope })
      return { codes, poll: () => oidc.pollDeviceAuthorizationGrant(config, { ...codes, interval: 0.01 }) }
    }

    it('is given a token once somebody has approved', async () => {
      const { codes, poll } = await begin('tokens:read')
      const { id, session } = await plane.person()
      const asked = poll()
      await plane.decide('approve', codes.user_code, session)
      const tokens = await asked
      expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'tokens:read', expires_in: 2_592_000 })
      const me = await plane.call(tokens.access_token, 'GET /v1/auth/whoami')
      expect(me.body['subject']).toBe(`user:${id}`)
    })

    it('understands that it was refused, that its code has expired, and that a scope is none', async () => {
      const refused = await begin('*')
      const { session } = await plane.person()
      await plane.decide('deny', refused.codes.user_code, session)
      await expect(refused.poll()).rejects.toMatchObject({ error: 'access_denied', status: 400 })
      const late = await begin('*')
      plane.clock.nowMs += 600_000
      await expect(late.poll()).rejects.toMatchObject({ error: 'expired_token', status: 400 })
      await expect(begin('nonsense')).rejects.toMatchObject({ error: 'invalid_scope', status: 400 })
    })
  })
})
