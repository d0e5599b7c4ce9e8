import { createPublicKey, verify as verifySignature } from 'node:crypto'
import { EventSource } from 'eventsource'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDomainFrameVerifier, type DomainFrameVerifier } from '../../src/shared/events/domain-verifier.ts'
import { startNatsServer, type NatsServer } from '../support/events/nats-server.ts'
import { requirement } from '../support/run/requirements.mjs'
import { callServer, startReplicas, type Replicas } from '../support/server/replicas.ts'

const WAIT = { interval: 50, timeout: 30_000 }

interface Received {
  readonly id: string
  readonly event: string
  readonly data: string
}

const BUSES = [
  { bus: 'the embedded event log', isMissing: requirement('postgresql') === undefined, hasNats: false },
  {
    bus: 'JetStream',
    isMissing: requirement('postgresql') === undefined || requirement('nats-server') === undefined,
    hasNats: true,
  },
]

describe.each(BUSES)('streams of a Domain of two servers with $bus', ({ isMissing, hasNats }) => {
  describe.skipIf(isMissing)('', () => {
    let replicas: Replicas
    let nats: NatsServer | undefined
    const sources: EventSource[] = []

    beforeAll(async () => {
      nats = hasNats ? await startNatsServer() : undefined
      replicas = await startReplicas(2, nats && { SERVICE_NATS_URL: `nats://${nats.address}` })
    }, 180_000)
    afterEach(() => {
      for (const source of sources.splice(0)) source.close()
    })
    afterAll(async () => {
      await replicas?.stop()
      await nats?.stop()
    }, 180_000)

    /** Follows as a browser does, over outages, until the test ends. */
    async function follow(index: number): Promise<readonly Received[]> {
      const received: Received[] = []
      let isOpen = false
      const source = new EventSource('http://replaced.example/', {
        // A server that was started again has another address.
        fetch: (_url, init) =>
          fetch(`${replicas.servers[index]?.url}/v1/domains/${replicas.domainId}/events/stream`, {
            ...init,
            headers: { ...init.headers, Authorization: `Bearer ${replicas.token}` },
          }),
      })
      sources.push(source)
      source.addEventListener('open', () => {
        isOpen = true
      })
      for (const type of ['project.created', 'stream.resync'])
        source.addEventListener(type, ({ lastEventId: id, data }) => void received.push({ id, event: type, data }))
      await expect.poll(() => isOpen, WAIT).toBe(true)
      return received
    }

    let projects = 0
    async function createProject(index: number): Promise<string> {
      projects += 1
      const slug = `project-${projects}`
      const [server] = [replicas.servers[index]]
      if (server === undefined) throw new Error('there is no such server')
      const path = `/v1/domains/${replicas.domainId}/projects`
      const body = { slug, display_name: slug }
      const made = await callServer(server, { token: replicas.token, method: 'POST', path, body })
      expect(made.status).toBe(201)
      return `project:${String(made.body['id'])}`
    }

    const objectsOf = (received: readonly Received[]): unknown[] =>
      received.filter(({ event }) => event === 'project.created').map(({ data }) => JSON.parse(data).payload.object)

    async function verifier(): Promise<DomainFrameVerifier> {
      const [server] = replicas.servers
      if (server === undefined) throw new Error('there is no server')
      const { keys } = (await callServer(server, { token: replicas.token, path: '/v1/signing-keys' })).body as {
        keys: { kid: string; x: string }[]
      }
      const found = new Map(
        keys.map(({ kid, x }) => [
          kid,
          { kid, publicKey: Buffer.from(x, 'base64url'), notBeforeMs: undefined, notAfterMs: undefined },
        ]),
      )
      return createDomainFrameVerifier({
        domainId: replicas.domainId,
        findKey: (kid) => found.get(kid),
        verify: (signature, message, publicKey) => {
          const x = Buffer.from(publicKey).toString('base64url')
          const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
          return verifySignature(null, message, key, signature)
        },
      })
    }

    it('have the changes that any of them makes, alike, in order and signed by the published keys', async () => {
      const [one, other] = [await follow(0), await follow(1)]
      const made: string[] = []
      for (let count = 0; count < 10; count++) made.push(await createProject(count % 2))
      await expect.poll(() => objectsOf(one), WAIT).toEqual(made)
      await expect.poll(() => objectsOf(other), WAIT).toEqual(made)
      expect(other.map(({ id }) => id)).toEqual(one.map(({ id }) => id))
      for (const received of [one, other]) {
        const verify = await verifier()
        for (const frame of received) expect(await verify(frame)).toMatchObject({ ok: true })
      }
    })

    it('go on after a server was killed, with nothing left out and nothing twice', async () => {
      const received = await follow(1)
      const made = [await createProject(1)]
      await expect.poll(() => objectsOf(received), WAIT).toEqual(made)
      const killed = replicas.servers[1]
      if (killed === undefined) throw new Error('there is no second server')
      await killed.end('SIGKILL')
      made.push(await createProject(0), await createProject(0))
      await replicas.replace(killed)
      made.push(await createProject(1))
      await expect.poll(() => objectsOf(received), { interval: 50, timeout: 60_000 }).toEqual(made)
      expect(received.filter(({ event }) => event === 'stream.resync')).toEqual([])
    }, 180_000)
  })
})
