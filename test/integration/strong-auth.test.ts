import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CONTENTS } from '../../src/server/composition/contents.ts'
import { masterKeyOf } from '../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../src/server/adapters/keyring/open-keyring.ts'
import { createKeyring, createSealing } from '../../src/server/adapters/keyring/ring.ts'
import { createUuidV7 } from '../../src/server/adapters/system/uuid-v7.ts'
import { createAuthz } from '../../src/server/slices/authz/service.ts'
import { createApprovalQueue } from '../../src/server/slices/approvals/queue.ts'
import { addDomain } from '../../src/server/slices/domains/add-domain.ts'
import { newDomain } from '../../src/server/slices/domains/domain.ts'
import { createDomains } from '../../src/server/slices/domains/service.ts'
import { mounted } from '../../src/server/http/request-context.ts'
import { addServiceIdentity, newServiceIdentity } from '../../src/server/slices/identities/add-service-identity.ts'
import { createSessionResolver } from '../../src/server/slices/sessions/session-resolver.ts'
import { createSessions } from '../../src/server/slices/sessions/sessions.ts'
import { authz } from '../../src/shared/contract/authz.ts'
import { domains } from '../../src/shared/contract/domains.ts'
import { ENGINE_KINDS, isEngineMissing, openReplica, useSpicedb, type Replica } from '../support/authz/engines.ts'
import { EMBEDDED, POSTGRES, useDatastore } from '../support/datastores/stores.ts'
import { startEdge, type Edge } from '../support/server/edge.ts'

const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const clock = { now: () => NOW_MS }

describe.each(ENGINE_KINDS)('a role that wants a strong sign-in, decided by the %s engine', (engine) => {
  const store = engine === 'spicedb' ? POSTGRES : EMBEDDED
  describe.skipIf(isEngineMissing(engine) || store.missing)('', () => {
    const inUse = useDatastore(store)
    const server = useSpicedb(engine)
    const ids = createUuidV7(clock)
    const [domainId, ann] = [ids.next(), ids.next()]
    let replica: Replica
    let edge: Edge
    let openSession: (acr: string | undefined) => Promise<string>

    beforeAll(async () => {
      const datastore = inUse.current()
      replica = await openReplica({ datastore, nowMs: NOW_MS, server: server() })
      const { authorizer, unitOfWork, feed, change } = replica
      const ring = await openRing(datastore, masterKeyOf(Buffer.alloc(32, 7)), clock)
      const [keyring, sealing] = [createKeyring(ring), createSealing(ring)]
      const sessions = createSessions({ ids, clock, keyring, sealing })
      // The feed of a replica runs already; no session of these tests ends.
      const changeFeed = { ...feed, subscribe: () => undefined }
      const lastUses = { note: () => undefined, flush: async () => undefined }
      edge = await startEdge({
        surfaces: [
          mounted(
            domains,
            createDomains({ datastore, ids, contents: CONTENTS, approvalQueue: createApprovalQueue({ ids }) }),
          ),
          mounted(authz, createAuthz({ authorizer })),
        ],
        resolvers: [createSessionResolver({ datastore, keyring, changeFeed, clock, lastUses })],
        authorizer,
        unitOfWork,
        keyring,
        clock,
      })
      const createdAt = new Date(NOW_MS)
      await change((tx) => addDomain(tx, newDomain(domainId, { slug: 'acme', display_name: 'Acme' }, createdAt)))
      const draft = { id: ann, domainId, displayName: 'Ann', subject: 'ann', createdAt }
      const row = { ...(await newServiceIdentity(draft, { keyring, sealing })), kind: 'user' as const }
      await change((tx) => addServiceIdentity(tx, row))
      const db = datastore.pool('interactive')
      await db
        .updateTable('domains')
        .set({ strong_acr: JSON.stringify(['gold', 'platinum']) })
        .execute()
      await change(async (tx) => {
        tx.domainChanged(domainId)
        const tuple = { subject: `user:${ann}`, relation: 'admin', resource: `domain:${domainId}` }
        await tx.tuples.create({ ...tuple, caveatName: 'strong_auth' }, { domainId, projectId: null })
      })
      openSession = async (acr) => {
        const seen = { sourceAddress: '203.0.113.7', userAgent: 'a browser', nowMs: NOW_MS, authTimeMs: NOW_MS }
        const draftOfSession = { principalId: ann, domainId, bindingId: ids.next(), acr, amr: [], ...seen }
        return (await change((tx) => sessions.open(tx, draftOfSession))).cookie
      }
    })
    afterAll(async () => {
      await edge.app.drain(1000)
      replica.stop()
    })

    async function ask(session: string, path: string, body?: object) {
      const headers = { cookie: `service_session=${session}`, 'content-type': 'application/json' }
      const sent = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
      const response = await fetch(`http://127.0.0.1:${edge.port}${path}`, sent)
      return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> }
    }

    test.each([
      ['gold', 200],
      ['platinum', 200],
      ['silver', 403],
      [undefined, 403],
    ])('lets a session of strength %s through its gates: %i', async (acr, status) => {
      expect((await ask(await openSession(acr), `/v1/domains/${domainId}`)).status).toBe(status)
    })

    test.each([
      ['gold', ['acr', 'strong_acr'], 'allowed'],
      ['gold', [], 'denied'],
      ['silver', ['acr', 'strong_acr'], 'denied'],
      [undefined, ['acr', 'strong_acr'], 'denied'],
    ])('answers a session of strength %s that names %j: %s', async (acr, fields, decision) => {
      const question = {
        subject: `user:${ann}`,
        relation: 'manage',
        resource: `domain:${domainId}`,
        // What a caller says of itself is worth nothing: values are the server's.
        caveat_context: Object.fromEntries(fields.map((field) => [field, 'gold'])),
      }
      expect((await ask(await openSession(acr), '/v1/authz/check', question)).body['decision']).toBe(decision)
    })
  })
})
