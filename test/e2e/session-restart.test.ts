import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSessions } from '../../src/server/slices/sessions/sessions.ts'
import { addUser, createSessionOpener } from '../conformance/signed-in.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { startWholeServer, type WholeServer } from '../support/server/whole-server.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

describe.each(STORES)('a session on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const scratch = mkdtempSync(join(tmpdir(), 'ctl-sessions-'))
    let cluster: PostgresCluster | undefined
    beforeAll(async () => {
      if (store.name === 'postgres') cluster = await startPostgresCluster()
    })
    afterAll(async () => {
      await cluster?.stop()
      rmSync(scratch, { recursive: true, force: true })
    })

    const start = () =>
      startWholeServer(['--data-dir', scratch, ...(cluster === undefined ? [] : ['--database-url', cluster.url])])

    const statusOf = async ({ server }: WholeServer, cookie: string) =>
      (await fetch(`${server.url}/v1/auth/whoami`, { headers: { cookie } })).status

    test('goes on after a restart, and so do its end and its anti-forgery token', async () => {
      const first = await start()
      const domain = await first.backend.datastore
        .pool('interactive')
        .selectFrom('domains')
        .select('id')
        .executeTakeFirst()
      const domainId = domain?.id ?? ''
      const id = await addUser(first.backend, domainId)
      const open = createSessionOpener(first.backend)
      const [kept, ended] = [await open({ id, domainId }), await open({ id, domainId })]
      expect(await statusOf(first, ended)).toBe(200)
      await fetch(`${first.server.url}/v1/auth/whoami`, { method: 'DELETE', headers: { cookie: ended } })
      await first.server.close()

      const second = await start()
      expect([await statusOf(second, kept), await statusOf(second, ended)]).toEqual([200, 401])
      expect(kept).toContain(`service_csrf=${await csrfTokenOf(second, kept)}`)
      await second.server.close()
    })

    /** The token that this run makes for the session. */
    async function csrfTokenOf({ server, backend }: WholeServer, cookie: string): Promise<string> {
      const answer = await fetch(`${server.url}/v1/auth/whoami`, { headers: { cookie } })
      const { credential } = (await answer.json()) as { readonly credential: { readonly id: string } }
      return createSessions(backend).csrfToken(credential.id)
    }
  })
})
