import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { connect, nkeys } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { NatsAddress } from '../../src/server/adapters/jetstream/connect.ts'
import { openJetStreamBus } from '../../src/server/adapters/jetstream/jetstream.ts'
import type { EventBus } from '../../src/server/ports/event-bus.ts'
import { recordBus } from '../support/events/bus-recorder.ts'
import { makeNatsAccounts } from '../support/events/nats-accounts.ts'
import { NO_JETSTREAM, startNatsServer, type NatsServer } from '../support/events/nats-server.ts'
import { nodeOf, outgoing, outgoingRange } from '../support/events/outgoing-events.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startTcpProxy } from '../support/network/tcp-proxy.ts'

const WAIT = { timeout: 20_000, interval: 20 }
const PLAIN = { kind: 'plaintext', caPath: undefined } as const
const isMissing = requirement('nats-server') === undefined

describe.skipIf(isMissing)('JetStream', { timeout: 180_000 }, () => {
  let server: NatsServer
  let folder: string
  let buses: EventBus[]
  let warnings: string[]

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-jetstream-'))
    server = await startNatsServer()
  })
  afterAll(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })
  beforeEach(async () => {
    buses = []
    warnings = []
    await server.end('SIGKILL')
    server.configure([])
    server.emptyStore()
    await server.start()
  })
  afterEach(async () => {
    for (const bus of buses) await bus.close()
  })

  async function open(address: Partial<NatsAddress> = {}): Promise<EventBus> {
    const bus = await openJetStreamBus({
      address: { servers: [server.address], credentialsFile: undefined, security: PLAIN, ...address },
      settings: { env: 'test', replicas: 1, bytesMax: undefined },
      clock: { now: () => Date.now() },
      warn: (message) => void warnings.push(message),
    })
    buses.push(bus)
    return bus
  }

  function fileWith(text: string): string {
    const path = join(folder, `credentials-${Math.random()}`)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }

  /** What opening a bus comes to. */
  async function outcome(address: Partial<NatsAddress> = {}): Promise<string> {
    try {
      await open(address)
      return 'open'
    } catch (error) {
      if (error instanceof Error && 'exitCode' in error) return `${String(error.exitCode)} ${error.message}`
      throw error
    }
  }

  async function restartWith(settings: readonly string[]): Promise<void> {
    await server.end('SIGTERM')
    server.configure(settings)
    await server.start()
  }

  async function manage<T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const connection = await connect({ servers: server.address })
    try {
      return await work(await jetstreamManager(connection))
    } finally {
      await connection.close()
    }
  }

  async function keptOf(bus: EventBus, node: number): Promise<number[]> {
    const { head } = await bus.bounds(nodeOf(node))
    const events = await bus.read(nodeOf(node), { after: 0n, upTo: head, max: 10_000 })
    return events.map(({ nodeSeq }) => Number(nodeSeq))
  }

  describe('the stream', () => {
    test('is made with its bounds, and brought up to date where it differs', async () => {
      await open()
      await manage((manager) => manager.streams.update('ctl-test-events', { max_msgs_per_subject: 5, max_age: 1e12 }))
      await open()
      const { config } = await manage((manager) => manager.streams.info('ctl-test-events'))
      expect(config).toMatchObject({
        subjects: ['ctl.test.events.*'],
        storage: 'file',
        retention: 'limits',
        discard: 'old',
        max_msgs_per_subject: 10_000,
        max_age: 604_800_000_000_000,
        max_bytes: -1,
        duplicate_window: 120_000_000_000,
        num_replicas: 1,
        allow_direct: true,
      })
    })

    test('has every acknowledged event after the server was killed', async () => {
      const bus = await open()
      for (let nodeSeq = 1; nodeSeq <= 200; nodeSeq += 20)
        await bus.publish([...outgoingRange(1, nodeSeq, nodeSeq + 19), ...outgoingRange(2, nodeSeq, nodeSeq + 19)])
      await server.end('SIGKILL')
      await server.start()
      await vi.waitFor(() => bus.ping(1_000), WAIT)
      const all = Array.from({ length: 200 }, (_, index) => index + 1)
      expect(await keptOf(bus, 1)).toEqual(all)
      expect(await keptOf(bus, 2)).toEqual(all)
    })

    test('stores an event once although it is given again after the window within which the server knows it', async () => {
      const bus = await open()
      await bus.publish(outgoingRange(1, 1, 8))
      await manage((manager) => manager.streams.update('ctl-test-events', { duplicate_window: 100_000_000 }))
      await new Promise((resolve) => setTimeout(resolve, 300))
      const another = await open({})
      await manage((manager) => manager.streams.update('ctl-test-events', { duplicate_window: 100_000_000 }))
      expect(await another.publish(outgoingRange(1, 6, 9))).toEqual(
        Array.from({ length: 4 }, () => ({ kind: 'stored' })),
      )
      expect(await keptOf(bus, 1)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    test('refuses what is larger than the server takes', async () => {
      await restartWith(['max_payload: 20000'])
      const bus = await open()
      expect(await bus.publish([outgoing(1, 1, 'x'.repeat(19_500)), outgoing(1, 2), outgoing(2, 1)])).toEqual([
        { kind: 'refused', reason: expect.stringMatching(/^it has \d+ bytes, more than the 19488 of an event$/) },
        { kind: 'held' },
        { kind: 'stored' },
      ])
    })

    test('takes nothing for an event that is none', async () => {
      const bus = await open()
      const recorder = recordBus()
      await bus.subscribe(recorder)
      const connection = await connect({ servers: server.address })
      await connection.request(`ctl.test.events.${nodeOf(1)}`, 'not ours')
      await connection.close()
      await bus.publish([outgoing(1, 1)])
      await vi.waitFor(() => expect(recorder.events).toHaveLength(1), WAIT)
      expect(recorder.nodeSeqs(nodeOf(1))).toEqual([1])
      expect(recorder.gaps).toBe(0)
    })
  })

  describe('a network between', () => {
    test('that was cut costs one follower time and nothing else', async () => {
      const proxy = await startTcpProxy(server.address)
      onTestFinished(() => proxy.close())
      const [far, near] = [await open({ servers: [proxy.address] }), await open()]
      const recorder = recordBus()
      await far.subscribe(recorder)
      for (let nodeSeq = 1; nodeSeq <= 30; nodeSeq += 10) {
        await near.publish(outgoingRange(1, nodeSeq, nodeSeq + 4))
        proxy.cut()
        await near.publish(outgoingRange(1, nodeSeq + 5, nodeSeq + 9))
        proxy.mend()
      }
      const all = Array.from({ length: 30 }, (_, index) => index + 1)
      await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1))).toEqual(all), WAIT)
      expect(recorder.gaps).toBe(0)
    })

    test('that swallows everything is noticed by its silence, and waited for no longer than the deadline', async () => {
      const proxy = await startTcpProxy(server.address)
      onTestFinished(() => proxy.close())
      const bus = await open({ servers: [proxy.address] })
      const recorder = recordBus()
      await bus.subscribe(recorder)
      await bus.publish([outgoing(1, 1)])
      proxy.swallow()
      const startedAt = performance.now()
      await expect(bus.publish([outgoing(1, 2)])).rejects.toMatchObject({ name: 'EventBusUnavailable' })
      expect(performance.now() - startedAt).toBeLessThan(6_000)
      expect(bus.awaySinceMs()).toBeTypeOf('number')
      proxy.mend()
      await vi.waitFor(() => bus.publish(outgoingRange(1, 2, 3)), WAIT)
      await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1))).toEqual([1, 2, 3]), WAIT)
      expect(recorder.gaps).toBe(0)
    })
  })

  describe('what is lost for good is told as a gap', () => {
    test.each([
      [
        'the store was emptied while the server was down',
        async () => {
          await server.end('SIGKILL')
          server.emptyStore()
          await server.start()
        },
      ],
      ['the stream was deleted', () => manage((manager) => manager.streams.delete('ctl-test-events'))],
    ])('%s: it is made anew, with positions above all earlier ones', async (_case, lose) => {
      const bus = await open()
      const recorder = recordBus()
      await bus.subscribe(recorder)
      await bus.publish(outgoingRange(1, 1, 5))
      await vi.waitFor(() => expect(recorder.events).toHaveLength(5), WAIT)
      const before = await bus.bounds(nodeOf(1))

      await lose()
      await vi.waitFor(() => bus.publish([outgoing(1, 6)]), WAIT)
      await vi.waitFor(() => expect(recorder.gaps).toBe(1), WAIT)
      await vi.waitFor(() => bus.publish([outgoing(1, 7)]), WAIT)
      await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1)).at(-1)).toBe(7), WAIT)
      const after = await bus.bounds(nodeOf(1))
      expect(after.oldest?.nodeSeq).toBe(6n)
      expect(after.oldest?.seq).toBeGreaterThan(before.head)
    })

    test('events were purged before they were read', async () => {
      const proxy = await startTcpProxy(server.address)
      onTestFinished(() => proxy.close())
      const bus = await open({ servers: [proxy.address] })
      const recorder = recordBus()
      await bus.subscribe(recorder)
      await bus.publish([outgoing(1, 1)])
      await vi.waitFor(() => expect(recorder.events).toHaveLength(1), WAIT)
      const other = await open()
      proxy.cut()
      await vi.waitFor(() => expect(bus.awaySinceMs()).toBeTypeOf('number'), WAIT)
      await other.publish(outgoingRange(1, 2, 9))
      await manage((manager) => manager.streams.purge('ctl-test-events', { keep: 2 }))
      proxy.mend()
      await vi.waitFor(() => expect(recorder.gaps).toBe(1), WAIT)
      await other.publish([outgoing(1, 10)])
      await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1)).at(-1)).toBe(10), WAIT)
      expect(recorder.gaps).toBe(1)
      expect((await other.bounds(nodeOf(1))).oldest?.nodeSeq).toBe(8n)
    })

    test('not when the stream was purged of what had been read', async () => {
      const bus = await open()
      const recorder = recordBus()
      await bus.subscribe(recorder)
      await bus.publish(outgoingRange(1, 1, 3))
      await vi.waitFor(() => expect(recorder.events).toHaveLength(3), WAIT)
      await manage((manager) => manager.streams.purge('ctl-test-events'))
      await bus.publish([outgoing(1, 4)])
      await vi.waitFor(() => expect(recorder.nodeSeqs(nodeOf(1))).toEqual([1, 2, 3, 4]), WAIT)
      expect(recorder.gaps).toBe(0)
    })
  })

  describe('credentials', () => {
    const password = ['authorization { user: ctl, password: "s:cret" }']

    test('are a user and a password, with colons', async () => {
      await restartWith(password)
      expect(await outcome({ credentialsFile: fileWith('ctl:s:cret\n') })).toBe('open')
    })

    test('are a token', async () => {
      await restartWith(['authorization { token: "t0ken" }'])
      expect(await outcome({ credentialsFile: fileWith('t0ken\n') })).toBe('open')
    })

    test('are the seed of an nkey', async () => {
      const user = nkeys.createUser()
      await restartWith([`authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`])
      expect(await outcome({ credentialsFile: fileWith(new TextDecoder().decode(user.getSeed())) })).toBe('open')
    })

    test('are a .creds file', async () => {
      const { settings, creds } = makeNatsAccounts()
      await restartWith(settings)
      expect(await outcome({ credentialsFile: fileWith(creds) })).toBe('open')
    })

    test('that are wrong or missing at the start end it', async () => {
      await restartWith(password)
      const refused = '1 NATS refuses the credentials; see what --nats-credentials-file holds.'
      expect(await outcome({ credentialsFile: fileWith('ctl:wrong') })).toBe(refused)
      expect(await outcome()).toBe(refused)
    })

    test('that others may read are warned of; a file that is not there ends the start', async () => {
      await restartWith(password)
      const credentialsFile = fileWith('ctl:s:cret')
      chmodSync(credentialsFile, 0o644)
      expect(await outcome({ credentialsFile })).toBe('open')
      expect(warnings).toEqual([`others may read the file ${credentialsFile} of --nats-credentials-file: chmod 600 it`])
      expect(await outcome({ credentialsFile: '/nowhere/creds' })).toBe(
        '1 The file /nowhere/creds of --nats-credentials-file cannot be read (ENOENT); check the path and its mode.',
      )
    })

    test('that are refused later are an outage, which ends once the file holds others', async () => {
      await restartWith(password)
      const credentialsFile = fileWith('ctl:s:cret')
      const bus = await open({ credentialsFile })
      await bus.publish([outgoing(1, 1)])
      await restartWith(['authorization { user: ctl, password: "changed" }'])
      await vi.waitFor(
        () => expect(bus.publish([outgoing(1, 2)])).rejects.toMatchObject({ name: 'EventBusUnavailable' }),
        WAIT,
      )
      await vi.waitFor(() => expect(warnings.length).toBeGreaterThan(0), WAIT)
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      expect(bus.awaySinceMs()).toBeTypeOf('number')
      writeFileSync(credentialsFile, 'ctl:changed')
      await vi.waitFor(() => bus.publish([outgoing(1, 2)]), WAIT)
      expect(await keptOf(bus, 1)).toEqual([1, 2])
    })
  })

  describe('a start without what it needs says so', () => {
    test('nobody listens', async () => {
      await server.end('SIGTERM')
      expect(await outcome()).toBe('8 NATS does not answer at --nats-url: start it, or see whether the address fits.')
    })

    test('the server stores nothing', async () => {
      await restartWith([NO_JETSTREAM])
      expect(await outcome()).toBe(
        '1 NATS has no JetStream here: switch it on in the server (jetstream {}), and for the account.',
      )
    })

    test('the account may not store', async () => {
      await restartWith(['accounts { A { users: [ { user: ctl, password: secret } ] } }'])
      expect(await outcome({ credentialsFile: fileWith('ctl:secret') })).toBe(
        '1 NATS has no JetStream here: switch it on in the server (jetstream {}), and for the account.',
      )
    })

    test('the server is too old', async () => {
      const old = createServer((socket) => {
        const info = { server_id: 'old', version: '2.8.4', proto: 1, max_payload: 1_048_576, jetstream: true }
        socket.write(`INFO ${JSON.stringify(info)}\r\n`)
        socket.on('data', () => socket.write('PONG\r\n')).on('error', () => socket.destroy())
      }).listen(0, '127.0.0.1')
      await once(old, 'listening')
      onTestFinished(() => void old.close())
      const at = old.address()
      const port = at === null || typeof at === 'string' ? 0 : at.port
      expect(await outcome({ servers: [`127.0.0.1:${port}`] })).toBe('1 NATS 2.8.4 is too old: use 2.9 or newer.')
    })

    test('another stream has the subjects', async () => {
      await manage((manager) => manager.streams.add({ name: 'theirs', subjects: ['ctl.>'] }))
      expect(await outcome()).toBe(
        '1 The event stream could not be made or brought up to date in JetStream: subjects overlap with an existing stream; see its limits, its permissions and --nats-replicas.',
      )
    })
  })

  describe.skipIf(requirement('openssl') === undefined)('by TLS', () => {
    let cert: string
    let key: string

    beforeAll(() => {
      key = join(folder, 'key.pem')
      cert = join(folder, 'cert.pem')
      const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
      const subject = ['-subj', '/CN=nats', '-addext', 'subjectAltName=IP:127.0.0.1']
      execFileSync('openssl', [...made, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
    })

    const settings = () => [`tls { cert_file: "${cert}", key_file: "${key}" }`]

    test('is reached where the certificate is vouched for', async () => {
      await restartWith(settings())
      const bus = await open({ security: { kind: 'tls', caPath: cert } })
      await bus.publish([outgoing(1, 1)])
      expect(await keptOf(bus, 1)).toEqual([1])
    })

    test('is refused where nobody vouches for the certificate, and where the server has none', async () => {
      const refused =
        '1 NATS cannot be reached by TLS: its certificate is not vouched for, or it has none; see --nats-ca and --nats-url.'
      expect(await outcome({ security: { kind: 'tls', caPath: undefined } })).toBe(refused)
      await restartWith(settings())
      expect(await outcome({ security: { kind: 'tls', caPath: undefined } })).toBe(refused)
    })
  })
})
