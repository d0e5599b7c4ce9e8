import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { canonicalDomainEnvelope } from '../../../src/shared/events/domain-envelope.ts'
import type { DomainEventPayload, DomainEventType } from '../../../src/shared/events/domain-types.ts'
import { createCliHome, type CliHome, type CliResult } from '../../support/cli/cli-run.ts'
import { startEventStub, type EventStub, type StubConnection } from '../../support/events/event-stub.ts'
import { DOMAIN_ID, signed, vector, vectorKey, type Vector } from '../../support/events/event-vectors.ts'

const KEY = vectorKey('key-1', 7)
const OTHER = '0197a000-0000-7000-8000-00000000d002'
const NODE = 'node:0197a000-0000-7000-8000-00000000a001'

interface Parts {
  readonly type?: DomainEventType
  readonly payload?: DomainEventPayload
  readonly domain_id?: string
  readonly kid?: string
}

function event(seq: number, { type = 'node.registered', payload = { object: NODE }, ...more }: Parts = {}): Vector {
  const parts = { api_version: 'v1', domain_id: DOMAIN_ID, kid: KEY.kid, ...more } as const
  return signed(KEY, canonicalDomainEnvelope({ ...parts, occurred_at: '2026-01-02T03:04:05.678Z', payload, seq, type }))
}

const frameOf = ({ wire }: Vector, id: number | string, type = 'node.registered'): string =>
  `id: ${id}\nevent: ${type}\ndata: ${wire}\n\n`

describe('ctl events tail', { timeout: 90_000 }, () => {
  let home: CliHome
  let stub: EventStub
  beforeEach(() => {
    home = createCliHome({ CTL_TOKEN: 'psk_local_x' })
  })
  afterEach(async () => {
    home.remove()
    await stub.close()
  })

  const streams = (): readonly StubConnection[] =>
    stub.connections.filter(({ path }) => path.endsWith('/events/stream'))

  /** Serves the text and ends the stream. The command is stopped when it comes back, and so has read everything. */
  async function tailing(text: string, flags = '', more: { isTty?: boolean } = {}): Promise<CliResult> {
    stub = await startEventStub((connection) => {
      if (connection.path.startsWith('/v1/signing-keys')) {
        return connection.refuse(200, { keys: [KEY.jwk] }, { 'content-type': 'application/json' })
      }
      connection.send(streams().length === 1 ? text : ':keep-alive\n\n')
      return streams().length === 1 ? connection.end() : undefined
    })
    const interrupt = new AbortController()
    const argv = `events tail --domain ${DOMAIN_ID} ${flags}`.trim().split(' ')
    const running = home.run(argv, { interrupted: interrupt.signal, env: { CTL_URL: stub.url }, ...more })
    await vi.waitFor(() => expect(streams().length).toBe(2), { timeout: 60_000, interval: 50 })
    interrupt.abort()
    return running
  }

  it('shows what happened to which object, and where to go on', async () => {
    const change = { object: NODE, from: 'healthy', to: 'stale' } as const
    const opened = { object: NODE, session_id: 's-1' }
    const { stdout, stderr, exitCode } = await tailing(
      frameOf(event(5), 5) +
        frameOf(event(7, { type: 'node.reachability_changed', payload: change }), 7, 'node.reachability_changed') +
        frameOf(event(9, { type: 'session.opened', payload: opened }), 9, 'session.opened'),
      '-o wide',
      { isTty: true },
    )
    expect(stdout).toMatch(/7 +03:04:05 +node\.reachability_changed +node:[\w-]+ +healthy to stale/)
    expect(stdout).toMatch(/9 +03:04:05 +session\.opened +node:[\w-]+ +session_id s-1/)
    expect(stderr).toContain('Stopped. Go on after it with --since 9.')
    expect(exitCode).toBe(130)
  })

  it('prints a JSON line an event into a pipe, with the data as it was signed', async () => {
    const { stdout } = await tailing(frameOf(event(5), 5))
    const { id, event: type, data } = JSON.parse(stdout) as { id: string; event: string; data: object }
    expect([id, type]).toEqual(['5', 'node.registered'])
    expect(JSON.stringify(data)).toBe(event(5).wire)
  })

  it('asks for what comes after --since', async () => {
    await tailing(frameOf(event(5), 5), '--since 4')
    expect(streams().map(({ lastEventId }) => lastEventId)).toEqual(['4', '5'])
  })

  it('verifies, names what is wrong on stderr, and exits 10', async () => {
    const [one, two] = [event(1), event(2)]
    const { stdout, stderr, exitCode } = await tailing(
      [
        frameOf(one, 1),
        frameOf({ ...two, wire: two.wire.replace('registered', 'renamed') }, 2),
        frameOf({ ...two, wire: two.wire.replace('{', '{ ') }, 3),
        frameOf(event(4, { kid: 'key-9' }), 4),
        frameOf(event(5, { domain_id: OTHER }), 5),
        frameOf(event(6), 7),
        frameOf(event(8), 8, 'node.renamed'),
        frameOf(vector(KEY, { node_seq: 9 }), 9),
        frameOf(one, 1),
        frameOf(event(10), 10),
        frameOf(event(3, { type: 'stream.resync' }), 3, 'stream.resync'),
      ].join(''),
      '--verify --jq .[].verdict',
    )
    expect(stdout.trimEnd().split('\n')).toEqual([
      'ok',
      'bad_signature',
      'not_canonical',
      'unknown_key',
      'wrong_domain',
      'bad_id',
      'type_mismatch',
      'malformed',
      'duplicate',
      'ok',
      'ok',
    ])
    expect(stderr).toContain('event 5 is genuine, and of another Domain (wrong_domain)')
    expect(exitCode).toBe(10)
  })

  it('refuses a --since that is no number, without a call', async () => {
    stub = await startEventStub(({ send }) => send(''))
    const { exitCode, stderr } = await home.run(['events', 'tail', '--since', 'now'], { env: { CTL_URL: stub.url } })
    expect([exitCode, stub.connections.length]).toEqual([2, 0])
    expect(stderr).toContain('--since takes the id of an event, a whole number')
  })
})
