import { sql } from 'kysely'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { restartAfterRestore } from '../../src/server/adapters/postgres/after-restore.ts'
import { createNumbering } from '../../src/server/outbox/numbering.ts'
import { mounted } from '../../src/server/http/request-context.ts'
import type { EndReason } from '../../src/server/http/streams/stream-meter.ts'
import { createDomainEvents, type DomainEvents } from '../../src/server/slices/domain-events/service.ts'
import { domainEvents } from '../../src/shared/contract/domain-events.ts'
import { createDomainFrameVerifier } from '../../src/shared/events/domain-verifier.ts'
import { createEnvelopeVerifier } from '../../src/shared/events/verifier.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startFleet, type Fleet } from '../support/fleet/fleet.ts'
import { requestBytes } from '../support/network/raw-socket.ts'
import { openRawStream, type RawStream } from '../support/network/raw-stream.ts'

const WAIT = { interval: 20, timeout: 20_000 }
const KEEP_ALIVE_MS = 200

/** A frame as a reader has it. */
interface ReadFrame {
  readonly id: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
  readonly text: string
}

function framesOf(stream: RawStream): readonly ReadFrame[] {
  const frames = stream.text().matchAll(/^id: (\d+)\nevent: ([\w.]+)\ndata: (.*)\n\n/gm)
  return Array.from(frames, ([, id = '', event = '', text = '{}']) => ({ id, event, data: JSON.parse(text), text }))
}

const typesOf = (stream: RawStream): string[] => framesOf(stream).map(({ event }) => event)

describe.each(STORES)('the event stream of a Domain on the $name datastore', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: Fleet
    let service: DomainEvents
    let domainId: string
    const ends: EndReason[] = []
    const rejected: string[] = []
    const opened: RawStream[] = []
    const logged: string[] = []
    /** Looks at the datastore that failed, while it fails them. */
    const failing = { isOn: false, looks: 0 }

    beforeAll(async () => {
      let made: DomainEvents | undefined
      fleet = await startFleet(store, (backend) => {
        const pool: typeof backend.datastore.pool = (name) => {
          if (!failing.isOn) return backend.datastore.pool(name)
          failing.looks += 1
          throw new Error('the disk cannot be read')
        }
        made = createDomainEvents({
          ...backend,
          datastore: { ...backend.datastore, pool },
          meter: {
            opened: () => undefined,
            frame: () => undefined,
            ended: (reason) => void ends.push(reason),
            rejected: (code) => void rejected.push(code),
          },
          usage: { count: () => undefined },
          log: pino({ level: 'info' }, { write: (line: string) => void logged.push(String(JSON.parse(line).msg)) }),
          keepAliveMs: KEEP_ALIVE_MS,
          pollMs: 20,
        })
        return { surfaces: [mounted(domainEvents, made.handlers)] }
      })
      if (made === undefined) throw new Error('nothing was made')
      service = made
      domainId = await fleet.domain()
    })

    afterAll(async () => {
      await service?.stop()
      await fleet?.stop()
    })

    afterEach(() => {
      for (const stream of opened.splice(0)) stream.destroy()
    })

    async function ask(as: string, { lastEventId, of = domainId }: { lastEventId?: string; of?: string } = {}) {
      const stream = await openRawStream(Number(new URL(fleet.url).port))
      opened.push(stream)
      const headers = {
        Authorization: `Bearer ${as}`,
        ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
      }
      stream.send(requestBytes(`GET /v1/domains/${of}/events/stream`, headers))
      return stream
    }

    /** A stream that is there. */
    async function follow(asking: Parameters<typeof ask>[1] = {}, as = fleet.root): Promise<RawStream> {
      const stream = await ask(as, asking)
      await expect.poll(stream.text, WAIT).toContain(':keep-alive\n\n')
      return stream
    }

    async function refusal(as: string, asking: Parameters<typeof ask>[1] = {}): Promise<string> {
      const stream = await ask(as, asking)
      await expect.poll(stream.text, WAIT).toMatch(/\}$/)
      const [top = '', body = ''] = stream.text().split('\r\n\r\n')
      return `${top.split(' ')[1]} ${JSON.parse(body).code}`
    }

    async function number(): Promise<void> {
      const { datastore } = fleet
      const numbering = createNumbering({ datastore, onNumbered: () => undefined })
      while (await numbering.run(unfenced(fleet)));
    }

    /** Appends rows as changes do, and numbers them. */
    async function append(count: number, { event = 'ProjectUpdated', of = domainId } = {}): Promise<void> {
      await sql`
        insert into outbox (event, domain_id, aggregate, payload, correlation_id, occurred_at)
        select ${event}, ${of}::uuid, 'project:' || place, '{"slug": "hidden"}', 'test', now()
        from generate_series(1, ${count}) as place`.execute(fleet.db)
      await number()
    }

    async function head(): Promise<string> {
      const { rows } = await sql<{ at: string }>`select (seq + stream_base)::text as at from outbox_head`.execute(
        fleet.db,
      )
      return rows[0]?.at ?? ''
    }

    it('begins at once, and has what comes next and nothing of before', async () => {
      await append(3)
      const stream = await follow()
      const node = await fleet.enrol(domainId)
      await number()
      await expect.poll(() => typesOf(stream), WAIT).toContain('node.registered')
      const [frame] = framesOf(stream).filter(({ event }) => event === 'node.registered')
      expect(frame?.data).toMatchObject({
        api_version: 'v1',
        domain_id: domainId,
        type: 'node.registered',
        payload: { object: `node:${node.node_id}` },
      })
      expect(typesOf(stream)).not.toContain('project.updated')
    })

    it('is signed by the published keys, and no frame of it passes as the event of a node', async () => {
      const stream = await follow()
      await append(2)
      await expect.poll(() => typesOf(stream).length, WAIT).toBe(2)
      const keys = new Map(
        fleet.signer
          .keys()
          .map(({ kid, publicKey }) => [kid, { kid, publicKey, notBeforeMs: 0, notAfterMs: undefined }]),
      )
      const findKey = (kid: string) => keys.get(kid)
      const verify = createDomainFrameVerifier({ findKey, domainId })
      const asNode = createEnvelopeVerifier({ findKey })
      for (const { id, event, text } of framesOf(stream)) {
        expect(await verify({ id, event, data: text })).toMatchObject({ ok: true })
        expect(await asNode(text)).toMatchObject({ ok: false, fault: 'malformed' })
        const forged = text.replace('project.updated', 'project.deleted')
        expect(await verify({ id, event: undefined, data: forged })).toMatchObject({ fault: 'bad_signature' })
        expect(await verify({ id, event, data: text })).toMatchObject({ fault: 'duplicate' })
      }
    })

    it('carries ids and states, and neither names nor values', async () => {
      const stream = await follow()
      const node = await fleet.enrol(domainId, { name: 'secret-name' })
      await fleet.beat(node)
      fleet.wait(100_000)
      await fleet.change(async (change) => {
        change.emit({
          event: 'session_issued',
          domainId,
          aggregate: `node:${node.node_id}`,
          payload: {
            node_id: node.node_id,
            session_id: 's-1',
            jti: 's-1',
            kind: 'ssh',
            target: 'hidden:22',
            expires_at: '2030-01-01T00:00:00.000Z',
          },
        })
        change.emit({
          event: 'NodeReachabilityChanged',
          domainId,
          aggregate: `node:${node.node_id}`,
          payload: { node_id: node.node_id, from: 'healthy', to: 'stale', changed_at: '2030-01-01T00:00:00.000Z' },
        })
      })
      await append(1)
      await expect.poll(() => typesOf(stream), WAIT).toContain('project.updated')
      const payloads = Object.fromEntries(framesOf(stream).map(({ event, data }) => [event, data['payload']]))
      const about = { object: `node:${node.node_id}` }
      expect(payloads).toMatchObject({ 'node.registered': about })
      expect(payloads['session.opened']).toEqual({ ...about, session_id: 's-1' })
      expect(payloads['node.reachability_changed']).toEqual({ ...about, from: 'healthy', to: 'stale' })
      expect(stream.text()).not.toMatch(/secret-name|hidden/)
    })

    it('has a crossed capacity and a disabled webhook as the object that they are about', async () => {
      const stream = await follow()
      const webhook = 'webhook:0197a000-0000-7000-8000-00000000e001'
      await fleet.change(async (change) => {
        change.emit({
          event: 'CapacityThresholdCrossed',
          domainId,
          aggregate: `domain:${domainId}`,
          payload: { domain_id: domainId, dimension: 'nodes' },
        })
        change.emit({
          event: 'WebhookDisabled',
          domainId,
          aggregate: webhook,
          payload: { webhook_id: webhook.slice('webhook:'.length), reason: 'failing' },
        })
      })
      await number()
      await expect.poll(() => typesOf(stream), WAIT).toEqual(['capacity.crossed', 'webhook.disabled'])
      expect(framesOf(stream).map(({ data }) => data['payload'])).toEqual([
        { object: `domain:${domainId}` },
        { object: webhook },
      ])
    })

    it('has the events of its own Domain only, in order and each once', async () => {
      const other = await fleet.domain()
      const [stream, there] = [await follow(), await follow({ of: other })]
      for (let round = 0; round < 5; round++) {
        await append(3)
        await append(1, { of: other })
      }
      await expect.poll(() => framesOf(stream).length, WAIT).toBe(15)
      await expect.poll(() => framesOf(there).length, WAIT).toBe(5)
      const ids = framesOf(stream).map(({ id }) => Number(id))
      expect(ids).toEqual([...new Set(ids)].toSorted((one, another) => one - another))
      expect(framesOf(there).every(({ data }) => data['domain_id'] === other)).toBe(true)
    })

    it('resumes strictly after the named event, through what comes meanwhile', async () => {
      const first = await follow()
      await append(5)
      await expect.poll(() => framesOf(first).length, WAIT).toBe(5)
      const ids = framesOf(first).map(({ id }) => id)
      await append(450)
      await expect.poll(() => framesOf(first).at(-1)?.id, WAIT).toBe(await head())
      const second = await follow({ lastEventId: ids[1] ?? '' })
      await append(5)
      await expect.poll(() => framesOf(second).length, WAIT).toBe(458)
      expect(
        framesOf(second)
          .map(({ id }) => id)
          .slice(0, 3),
      ).toEqual(ids.slice(2))
      expect(typesOf(second)).not.toContain('stream.resync')
    })

    it('says that events were left out where too many came, and goes on after them', async () => {
      const stream = await follow()
      await append(201)
      await expect.poll(() => typesOf(stream), WAIT).toContain('stream.resync')
      await append(1)
      await expect.poll(() => typesOf(stream).at(-1), WAIT).toBe('project.updated')
      expect(typesOf(stream).filter((type) => type === 'stream.resync').length).toBeGreaterThan(0)
      expect(typesOf(stream).length).toBeLessThan(10)
      const at = framesOf(stream).at(-1)?.id ?? ''
      await append(1_001)
      await expect.poll(() => framesOf(stream).at(-1)?.id, WAIT).toBe(await head())
      const late = await follow({ lastEventId: at })
      await append(1)
      await expect.poll(() => typesOf(late), WAIT).toEqual(['stream.resync', 'project.updated'])
    })

    it.each(['9999999999', '0'])('says so where events after %s are not kept', async (lastEventId) => {
      await append(1)
      await sql`delete from outbox where seq < (select max(seq) from outbox)`.execute(fleet.db)
      const stream = await follow({ lastEventId })
      const at = await head()
      await expect
        .poll(() => framesOf(stream).map(({ event, id }) => `${event} ${id}`), WAIT)
        .toEqual([`stream.resync ${at}`])
      await append(1)
      await expect.poll(() => typesOf(stream), WAIT).toEqual(['stream.resync', 'project.updated'])
    })

    it.each(['-1', 'x', '18446744073709551614'])('refuses %s as a position', async (lastEventId) => {
      expect(await refusal(fleet.root, { lastEventId })).toBe('400 invalid_last_event_id')
    })

    it('answers a reader of the time before a restore with a resync, however far the new history is', async () => {
      const undone = await head()
      const open = await follow()
      await fleet.datastore.transaction('worker', (tx) => restartAfterRestore(tx, Date.now()))
      await append(5)
      const stream = await follow({ lastEventId: undone })
      await expect.poll(() => typesOf(stream), WAIT).toEqual(['stream.resync'])
      // A replica that goes on beside the restore does not look at the billion positions in between.
      await expect.poll(() => typesOf(open)[0], WAIT).toBe('stream.resync')
      expect(Number(framesOf(stream)[0]?.id)).toBeGreaterThan(Number(undone))
    })

    it('goes on after failures to read the outbox, which are logged when they begin and when they end', async () => {
      const stream = await follow()
      logged.length = 0
      failing.isOn = true
      await append(1)
      await expect.poll(() => failing.looks, WAIT).toBeGreaterThan(3)
      expect(logged).toEqual(['the events of Domains cannot be read; it is tried again'])
      failing.isOn = false
      await expect.poll(() => typesOf(stream), WAIT).toEqual(['project.updated'])
      await expect.poll(() => logged, WAIT).toContain('the events of Domains are read again')
      expect(logged).toHaveLength(2)
    })

    it('is for readers of the Domain, and ends within a keep-alive once the role is gone', async () => {
      const stranger = await fleet.principal(await fleet.domain())
      expect(await refusal(stranger)).toBe('403 permission_denied')
      const viewer = await fleet.principal(domainId)
      const role = { subject: viewer, relation: 'viewer' }
      const given = await fleet.call(fleet.root, `POST /v1/domains/${domainId}/grants`, role)
      expect(given.status).toBe(201)
      const stream = await follow({}, viewer)
      await append(1)
      await expect.poll(() => typesOf(stream), WAIT).toContain('project.updated')
      ends.length = 0
      const removed = await fleet.call(fleet.root, `DELETE /v1/domains/${domainId}/grants/${String(given.body['id'])}`)
      expect(removed.status).toBe(204)
      await stream.closed()
      await expect.poll(() => ends, WAIT).toContain('refused')
    })

    it('opens eight streams of one reader, and sixty-four of a Domain', async () => {
      const viewer = await fleet.holder(domainId, 'viewer', `domain:${domainId}`)
      for (let count = 0; count < 8; count++) await follow({}, viewer)
      expect(await refusal(viewer)).toBe('429 session_limit_exceeded')
      for (let reader = 0; reader < 7; reader++) {
        const one = await fleet.holder(domainId, 'viewer', `domain:${domainId}`)
        for (let count = 0; count < 8; count++) await follow({}, one)
      }
      expect(await refusal(await fleet.holder(domainId, 'viewer', `domain:${domainId}`))).toBe(
        '429 session_limit_exceeded',
      )
      expect(rejected).toContain('session_limit_exceeded')
    })

    it('cuts a reader that does not read, and serves the others', async () => {
      const [stuck, other] = [await follow(), await follow()]
      stuck.pause()
      ends.length = 0
      const deadline = Date.now() + 100_000
      let rounds = 0
      while (!ends.includes('slow')) {
        if (Date.now() > deadline) throw new Error('the reader is not cut')
        await append(200)
        rounds += 1
        await expect.poll(() => framesOf(other).at(-1)?.id, WAIT).toBe(await head())
      }
      expect(rounds).toBeGreaterThan(5)
      expect(other.isOpen()).toBe(true)
    }, 120_000)
  })
})
