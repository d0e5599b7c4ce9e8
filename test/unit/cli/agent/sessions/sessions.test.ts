import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { connect, createServer, Server, type AddressInfo, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSessions, type Sessions } from '../../../../../src/cli/agent/sessions/sessions.ts'
import { createSessionUse } from '../../../../../src/cli/agent/sessions/session-use.ts'
import { networksOf, targetRule } from '../../../../../src/cli/agent/sessions/session-target.ts'
import type { PulledBytes } from '../../../../../src/client/agent/calls/node-wire.ts'
import { TransportFailure } from '../../../../../src/client/failures.ts'
import { createSignatureVerifier } from '../../../../../src/client/verify-signature.ts'
import type { SessionSetupPayload } from '../../../../../src/shared/events/wire-types.ts'
import {
  agentWorld,
  id,
  pulled,
  refusal,
  type AgentCall,
  type AgentWorld,
} from '../../../../support/fleet/mesh-agents.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const KEY = {
  kid: 'key-1',
  publicKey: new Uint8Array(Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')),
  notBeforeMs: undefined,
  notAfterMs: undefined,
}
const NOW = Date.parse('2026-01-01T00:00:00Z')
/** Of this file alone: the port is always the same. */
const [ADDRESS, OTHER_ADDRESS] = ['127.7.44.1', '127.7.44.2']

const encoded = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString('base64url')

function tokenOf(session: SessionSetupPayload, more: object = {}): string {
  const { jti, kind, target, expires_at: expiresAt } = session
  const exp = Math.floor(Date.parse(expiresAt) / 1000)
  const claims = { iss: 'https://ctl', sub: 'user:u', aud: id(1), jti, kind, target, iat: NOW / 1000, exp, ...more }
  const signed = `${encoded({ alg: 'EdDSA', kid: 'key-1', typ: 'JWT' })}.${encoded(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
}

describe('The sessions of an agent', { timeout: 10_000 }, () => {
  let echo: Server
  let port: number
  let world: AgentWorld
  let sessions: Sessions
  let states: PulledBytes[]
  let activity: (call: AgentCall) => unknown
  let isServerAway: boolean
  let address: string
  const asked: ((addresses: readonly string[]) => void)[] = []
  const lines: string[] = []

  const node = () => {
    const [first] = world.nodes
    if (first === undefined) throw new Error('no node')
    return first
  }
  const session = (more: Partial<SessionSetupPayload> = {}): SessionSetupPayload => ({
    session_id: id(50),
    jti: id(50),
    kind: 'tcp',
    target: `127.0.0.1:${port}`,
    expires_at: '2026-01-01T01:00:00.000Z',
    ...more,
  })
  const live = (...all: readonly SessionSetupPayload[]): void => {
    node().liveSessions = new Map(all.map((one) => [one.session_id, one]))
    sessions.liveChanged()
  }
  const reports = (): readonly unknown[] =>
    world.calls.flatMap(({ operation, input }) => (operation === 'PostSessionActivity' ? [input['body']] : []))

  beforeEach(async () => {
    ;[states, isServerAway, address, activity] = [[], false, ADDRESS, () => undefined]
    ;[lines.length, asked.length] = [0, 0]
    echo = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => undefined).pipe(socket))
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    port = (echo.address() as AddressInfo).port
    world = agentWorld({
      answers: { PostSessionActivity: (call) => activity(call) },
      wire: { pull: async () => states.shift() },
    })
    sessions = createSessions({
      agent: world.deps,
      member: node(),
      log: { line: (text) => void lines.push(text), close: () => undefined },
      address: () => address,
      findKey: async (kid) => {
        if (isServerAway) throw new TransportFailure('unreachable', 'away', undefined)
        return kid === KEY.kid ? KEY : undefined
      },
      verify: createSignatureVerifier(),
      isAllowed: targetRule(networksOf(['10.0.0.0/8'])),
      ask: () => new Promise((resolve) => asked.push(resolve)),
    })
    sessions.addressChanged()
    await listening()
  })
  afterEach(() => {
    world.end()
    echo.close()
  })

  async function listening(at = address): Promise<void> {
    await world.clock.advance(30)
    await vi.waitFor(() => expect(sessions.status().listen).toBe(`${at}:7444`))
  }

  function dial(to = ADDRESS): Socket {
    const socket = connect({ host: to, port: 7444, allowHalfOpen: true })
    socket.on('error', () => undefined).on('end', () => socket.end())
    return socket
  }

  /** What comes next. */
  async function next(socket: Socket): Promise<Buffer> {
    const chunk = new Promise<Buffer>((resolve) => socket.once('data', resolve))
    socket.resume()
    const read = await chunk
    socket.pause()
    return read
  }

  /** Shows a token, and reads the first line of the answer. The rest stays to be read. */
  async function shown(token: string): Promise<{ socket: Socket; answer: string }> {
    const socket = dial()
    socket.write(`${token}\n`)
    const chunk = await next(socket)
    const end = chunk.indexOf('\n')
    if (end + 1 < chunk.length) socket.unshift(chunk.subarray(end + 1))
    return { socket, answer: chunk.subarray(0, end).toString() }
  }

  async function opened(token: string): Promise<Socket> {
    const { socket, answer } = await shown(token)
    expect(answer).toBe('ok')
    return socket
  }

  const exchange = async (socket: Socket, text: string): Promise<string> => {
    socket.write(text)
    return (await next(socket)).toString()
  }
  const closed = (socket: Socket): Promise<unknown> => {
    socket.resume()
    return socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', resolve))
  }

  it('pass the bytes of a live session in both directions, and keep one open when the other ends', async () => {
    live(session())
    const socket = await opened(tokenOf(session()))
    const sent = randomBytes(3 * 1024 * 1024)
    const received = buffer(socket)
    socket.end(sent)
    expect((await received).equals(sent)).toBe(true)
    expect(lines).toEqual([`sessions: ${id(50)} (tcp 127.0.0.1:${port}) of user:u from 127.0.0.1`])
  })

  it.each([
    ['no token', () => 'hello', 'malformed'],
    ['a token for another node', () => tokenOf(session(), { aud: id(2) }), 'wrong_node'],
    ['a token whose time is up', () => tokenOf(session(), { exp: NOW / 1000 }), 'expired'],
    [
      'an altered token',
      () => tokenOf(session()).replace(/\.[^.]+\./, `.${encoded({ aud: id(1) })}.`),
      'bad_signature',
    ],
    ['another target than the session has', () => tokenOf(session({ target: '127.0.0.1:1' })), 'wrong_session'],
  ])('refuse %s', async (_, token, fault) => {
    live(session())
    const { socket, answer } = await shown(token())
    expect(answer).toBe(`refused ${fault}`)
    await closed(socket.end())
    expect(reports()).toEqual([])
  })

  it.each([
    ['a network that is not allowed', '192.168.7.7:80', 'target_refused'],
    ['an address of cloud metadata', '169.254.169.254:80', 'target_refused'],
    ['what is no host and port', 'production', 'target_refused'],
    ['a port without a listener', '127.0.0.1:1', 'target_unreachable'],
  ])('refuse to reach %s', async (_, target, fault) => {
    live(session({ target }))
    expect((await shown(tokenOf(session({ target })))).answer).toBe(`refused ${fault}`)
  })

  it('look up two names of targets at once, so that names without an answer keep no more of the machine busy', async () => {
    const names = ['a', 'b', 'c'].map((host, place) => {
      const target = `${host}.example:${port}`
      return session({ session_id: id(60 + place), jti: id(60 + place), target })
    })
    live(session(), ...names)
    const answers = names.map((one) => shown(tokenOf(one)))
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    await opened(tokenOf(session()))
    await vi.waitFor(() => expect(sessions.status().connections).toBe(4))
    expect(asked).toHaveLength(2)
    for (const place of [0, 1, 2]) {
      await vi.waitFor(() => expect(asked.length).toBeGreaterThan(place))
      asked[place]?.(['127.0.0.1'])
    }
    expect((await Promise.all(answers)).map(({ answer }) => answer)).toEqual(['ok', 'ok', 'ok'])
  })

  it('pull once for a session that they do not know', async () => {
    states.push(pulled({ sessions: [session()] }))
    const pending = shown(tokenOf(session()))
    await vi.waitFor(() => expect(node().pulling.state).not.toBe('idle'))
    await world.clock.advance(200)
    const { socket, answer } = await pending
    expect([answer, await exchange(socket, 'hello')]).toEqual(['ok', 'hello'])
  })

  it('refuse a session that the pull does not have either', async () => {
    states.push(pulled({ sessions: [] }))
    const pending = shown(tokenOf(session()))
    await vi.waitFor(() => expect(node().pulling.state).not.toBe('idle'))
    await world.clock.advance(200)
    expect((await pending).answer).toBe('refused not_live')
    expect(states).toEqual([])
  })

  it('verify with a key that they know while the server is away, and refuse without one', async () => {
    isServerAway = true
    live(session())
    expect((await shown(tokenOf(session()))).answer).toBe('refused unavailable')
    isServerAway = false
    await opened(tokenOf(session()))
    isServerAway = true
    await opened(tokenOf(session()))
  })

  it('cut every connection of a session that is no longer live', async () => {
    const other = session({ session_id: id(51), jti: id(51) })
    live(session(), other)
    const sockets = [await opened(tokenOf(session())), await opened(tokenOf(session()))]
    const kept = await opened(tokenOf(other))
    for (const socket of sockets) await exchange(socket, 'hello')
    live(other)
    await Promise.all(sockets.map(closed))
    expect(await exchange(kept, 'still')).toBe('still')
    expect(sessions.status()).toMatchObject({ open: 1, connections: 1 })
  })

  it('cut a session at its end by the clock', async () => {
    const short = session({ expires_at: '2026-01-01T00:00:02.000Z' })
    live(short)
    const socket = await opened(tokenOf(short))
    await world.clock.advance(1_500)
    expect(await exchange(socket, 'hello')).toBe('hello')
    await world.clock.advance(1_000)
    await closed(socket)
    expect(lines.at(-1)).toBe(`sessions: ${id(50)} ended: its time is over`)
  })

  it('end a session through which no byte has passed for its idle timeout', async () => {
    const idle = session({ idle_timeout_seconds: 10 })
    live(idle)
    const socket = await opened(tokenOf(idle))
    await world.clock.advance(8_000)
    await exchange(socket, 'hello')
    await world.clock.advance(8_000)
    expect(await exchange(socket, 'hello')).toBe('hello')
    await world.clock.advance(11_000)
    await closed(socket)
    expect((await shown(tokenOf(idle))).answer).toBe('refused not_live')
  })

  it('report use at the beginning and then every five seconds, with the bytes since the last report', async () => {
    live(session())
    const socket = await opened(tokenOf(session()))
    await world.clock.advance(400)
    expect(reports()).toEqual([{ tcp: { bytes_in: 0, bytes_out: 0 } }])
    await exchange(socket, 'hello')
    await world.clock.advance(4_000)
    expect(reports()).toHaveLength(1)
    await world.clock.advance(1_000)
    await exchange(socket, 'more')
    await world.clock.advance(30_000)
    expect(reports().slice(1)).toEqual([{ tcp: { bytes_in: 5, bytes_out: 5 } }, { tcp: { bytes_in: 4, bytes_out: 4 } }])
    socket.end()
    await closed(socket)
    await world.clock.advance(6_000)
    expect(reports().slice(3)).toEqual([{ tcp: { bytes_in: 0, bytes_out: 0 } }])
    expect(sessions.status()).toMatchObject({ open: 0, connections: 0 })
  })

  it('report at least every third of the idle timeout', async () => {
    const idle = session({ idle_timeout_seconds: 3 })
    live(idle)
    const socket = await opened(tokenOf(idle))
    for (let seconds = 0; seconds < 5; seconds += 1) {
      await exchange(socket, 'x')
      await world.clock.advance(1_000)
    }
    expect(reports().length).toBeGreaterThanOrEqual(4)
  })

  it('report a refused report again, and cut a session that the server has ended', async () => {
    let answers = 0
    activity = () => {
      answers += 1
      throw answers === 1 ? refusal(500, 'internal') : refusal(409, 'session_already_revoked')
    }
    live(session())
    const socket = await opened(tokenOf(session()))
    await exchange(socket, 'hello')
    await world.clock.advance(400)
    expect([answers, await exchange(socket, 'on')]).toEqual([1, 'on'])
    await world.clock.advance(6_000)
    await closed(socket)
    expect((await shown(tokenOf(session()))).answer).toBe('refused not_live')
  })

  it('report SSH sessions as opened while they have connections, and as closed', async () => {
    const shell = session({ kind: 'ssh' })
    live(shell)
    const socket = await opened(tokenOf(shell))
    await world.clock.advance(400)
    socket.end()
    await closed(socket)
    await world.clock.advance(6_000)
    expect(reports()).toEqual([{ ssh: { event: 'opened' } }, { ssh: { event: 'closed' } }])
  })

  it.each([
    [
      'a request that can be read',
      'GET /api/v1/pods?token=secret HTTP/1.1\r\n\r\n',
      { verb: 'get', path: '/api/v1/pods' },
    ],
    ['one that is encrypted', '\x16\x03\x01\x02\x00', { verb: 'connect', path: '/' }],
  ])('report of a cluster API %s', async (_, text, expected) => {
    const cluster = session({ kind: 'cluster_api' })
    live(cluster)
    await exchange(await opened(tokenOf(cluster)), text)
    await world.clock.advance(400)
    expect(reports()).toEqual([{ cluster_api: expected }])
  })

  it('let 64 connections of a session in at once', async () => {
    live(session())
    const all = await Promise.all(Array.from({ length: 64 }, () => opened(tokenOf(session()))))
    expect((await shown(tokenOf(session()))).answer).toBe('refused too_many_connections')
    const [first] = all
    if (first === undefined) throw new Error('no connection')
    first.end()
    await closed(first)
    await vi.waitFor(() => expect(sessions.status().connections).toBe(63))
    await opened(tokenOf(session()))
  })

  it('close a connection whose first line is longer than 4 KiB, and one that ends before its line', async () => {
    const long = dial()
    long.write('x'.repeat(5_000))
    const silent = dial()
    silent.end('x')
    await Promise.all([closed(long), closed(silent)])
    expect([long.bytesRead, silent.bytesRead]).toEqual([0, 0])
  })

  it('move to a new address, keep open connections, and leave the old address', async () => {
    live(session())
    const socket = await opened(tokenOf(session()))
    address = OTHER_ADDRESS
    sessions.addressChanged()
    await listening()
    expect(await exchange(socket, 'hello')).toBe('hello')
    const refused = dial()
    await closed(refused)
    expect(refused.bytesRead).toBe(0)
  })

  it('name a port that is taken, and listen once it is free', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(7444, OTHER_ADDRESS, resolve))
    address = OTHER_ADDRESS
    sessions.addressChanged()
    await world.clock.advance(30)
    await vi.waitFor(() =>
      expect(sessions.status().fault).toBe(
        'mediated sessions are not let in: another program listens on 127.7.44.2, TCP 7444',
      ),
    )
    await new Promise((resolve) => other.close(resolve))
    await world.clock.advance(5_100)
    await listening()
    expect(sessions.status().fault).toBeUndefined()
  })

  it('let others in after connections that could not be accepted', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen')
    address = OTHER_ADDRESS
    sessions.addressChanged()
    await listening()
    const server = listen.mock.contexts[0] as Server
    listen.mockRestore()
    for (let times = 0; times < 2; times += 1) server.emit('error', new Error('accept EMFILE'))
    const socket = dial(OTHER_ADDRESS)
    socket.write('hello\n')
    expect([server.listening, (await next(socket)).toString()]).toEqual([true, 'refused malformed\n'])
  })

  it('cut every connection when the agent ends', async () => {
    live(session())
    const socket = await opened(tokenOf(session()))
    world.end()
    await closed(socket)
    expect(sessions.status().listen).toBeUndefined()
  })
})

describe('The use of a session', () => {
  it('is reported without bytes that were lost before they were sent', async () => {
    let [bytes, close] = [{ in: 100, out: 5 }, (): void => undefined]
    const closed = new Promise<void>((resolve) => (close = resolve))
    const target = { session_id: id(50), jti: id(50), kind: 'tcp', target: '127.0.0.1:1' } as const
    const use = createSessionUse({ ...target, expires_at: '2026-01-01T01:00:00.000Z' }, 0)
    use.begin()({ bytes: () => bytes, cut: () => undefined, closed })
    const reported = (nowMs: number) => {
      expect(use.look(nowMs)).toBe('report')
      const { activity, settled } = use.report(nowMs)
      settled(true)
      return activity
    }
    expect(reported(0)).toEqual({ tcp: { bytes_in: 100, bytes_out: 5 } })
    bytes = { in: 60, out: 7 }
    close()
    await closed
    expect(reported(10_000)).toEqual({ tcp: { bytes_in: 0, bytes_out: 2 } })
    expect(use.look(20_000)).toBe('done')
  })
})
