import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintApiToken, mintJoinToken, mintNsk, parseNsk } from '../../src/shared/credential-formats.ts'
import { openEdgeEnvelope } from '../../src/shared/mesh/edge-envelope.ts'
import { freshPublicKey } from '../conformance/world.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { openRawSocket } from '../support/network/raw-socket.ts'

const ID = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const MASTER_KEY = randomBytes(32).toString('base64')
const JWT = `eyJhbGciOiJFZERTQSJ9.${Buffer.from('{"sub":"somebody"}').toString('base64url')}.${randomBytes(64).toString('base64url')}`

/** Secrets by what they are: whole, and the part that is random. */
const secrets = new Map<string, string>()

function keep(name: string, secret: string): string {
  secrets.set(name, secret)
  return secret
}

function randomPartOf(secret: string): string {
  return secret.startsWith('psk_') || secret.startsWith('jtk_') || secret.startsWith('nsk_')
    ? secret
        .split('_')
        .slice(secret.startsWith('nsk_') ? 4 : 3)
        .join('_')
    : secret
}

describe('what the server says with its log at its most talkative', () => {
  let home: string
  let server: CtlProcess
  let said: string
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'ctl-log-secrets-'))
    const args = ['--data-dir', join(home, 'data'), '--log-level', 'trace']
    server = await startCtl({ args, env: { SERVICE_MASTER_KEY: MASTER_KEY } })
    await useEveryCredential()
    expect(await server.end('SIGTERM')).toBe(0)
    said = server.stdout() + server.stderr()
  }, 120_000)
  afterAll(async () => {
    await server.end('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })

  async function call(route: string, token: string, body?: object): Promise<Readonly<Record<string, string>>> {
    const [method = '', path = ''] = route.split(' ')
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-correlation-id': 'called' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return text === '' ? {} : JSON.parse(text)
  }

  /** The key of an edge in hexadecimal, fetched and opened as an agent does. */
  async function edgeKeyOf(edge: { nodeId: string; peerNodeId: string; nsk: string }): Promise<string> {
    const response = await fetch(`${server.url}/v1/nodes/${edge.nodeId}/peers/${edge.peerNodeId}/psk`, {
      headers: { authorization: `Bearer ${edge.nsk}` },
    })
    const envelope = new Uint8Array(await response.arrayBuffer())
    const epoch = response.headers.get('x-service-psk-epoch') ?? ''
    const opened = openEdgeEnvelope(envelope, parseNsk(edge.nsk)?.key ?? new Uint8Array(32), { ...edge, epoch })
    if (!opened.ok) throw new Error(`the envelope does not open: ${opened.fault}`)
    return Buffer.from(opened.edgeKey).toString('hex')
  }

  /** Makes one of everything secret, uses it rightly and wrongly, and puts it where it does not belong. */
  async function useEveryCredential(): Promise<void> {
    keep('the master key', MASTER_KEY)
    const root = keep('the bootstrap token', readFileSync(join(home, 'data/bootstrap-token'), 'utf8').trim())
    const { domain_id } = await call('GET /v1/auth/whoami', root)
    const issued = await call('POST /v1/auth/tokens', root, { name: 'one' })
    keep('an API token', String(issued['token']))
    const rotated = await call(`POST /v1/auth/tokens/${issued['id']}/rotate`, root, { grace_seconds: 0 })
    keep('its successor', String(rotated['token']))
    const joining = await call(`POST /v1/domains/${domain_id}/join-tokens`, root, { max_uses: 3 })
    keep('a join token', String(joining['token']))
    const node = { name: 'one', kind: 'vm', public_key: freshPublicKey() }
    const enrolled = await call('POST /v1/nodes/register', String(joining['token']), node)
    keep('a node secret key', String(enrolled['nsk']))
    const peer = { ...node, name: 'two', public_key: freshPublicKey() }
    const { node_id: peerId } = await call('POST /v1/nodes/register', String(joining['token']), peer)
    const own = { nodeId: String(enrolled['node_id']), peerNodeId: String(peerId), nsk: String(enrolled['nsk']) }
    keep('the key of an edge', await edgeKeyOf(own))
    await call(`POST /v1/nodes/${own.nodeId}/keys/rotate`, root)
    await call('POST /v1/keys/rotate', own.nsk, { public_key: freshPublicKey() })
    keep('the key of that edge after a rotation', await edgeKeyOf(own))
    await call(`DELETE /v1/nodes/${enrolled['node_id']}`, root)
    keep('an unknown API token', mintApiToken('dev', ID).token)
    keep('an unknown join token', mintJoinToken('dev', ID).token)
    keep('an unknown node secret key', mintNsk('dev', ID).nsk)
    keep('an API token mistyped', `${mintApiToken('dev', ID).token.slice(0, -1)}!`)
    keep('a JWT', JWT)
    keep('a password', 'correct-horse-battery-staple')
    for (const secret of secrets.values()) await useEverywhere(secret, { root, domainId: String(domain_id) })
  }

  async function useEverywhere(secret: string, { root, domainId }: { root: string; domainId: string }): Promise<void> {
    const inPath = encodeURIComponent(secret)
    const node = { name: 'x', kind: 'vm', public_key: freshPublicKey() }
    await call('GET /v1/auth/whoami', secret)
    await call('POST /v1/nodes/register', secret, node)
    await call(`POST /v1/nodes/${ID}/heartbeat`, secret, {})
    await call(`GET /v1/auth/whoami?access_token=${inPath}`, root)
    await call(`GET /v1/domains?cursor=${inPath}`, root)
    await call(`DELETE /v1/auth/tokens/${inPath}`, root)
    await call(`GET /v1/${inPath}`, root)
    await call(`POST /v1/domains/${domainId}/join-tokens`, root, { [secret]: secret, token: secret })
    await call('POST /v1/authz/check', root, { subject: secret, relation: secret, resource: secret })
    await fetch(`${server.url}/v1/auth/whoami`, {
      headers: { authorization: `Basic ${secret}`, cookie: `service_session=${secret}`, 'x-api-key': secret },
    })
    await fetch(`${server.url}/v1/auth/whoami`, { headers: { 'x-correlation-id': `${secret} !` } })
    await sendGarbage(`GET / HTTP/1.1\r\nAuthorization: Bearer ${secret}\r\n: broken\r\n\r\n`)
  }

  async function sendGarbage(bytes: string): Promise<void> {
    const socket = await openRawSocket(Number(new URL(server.url).port))
    socket.send(bytes)
    await socket.closed()
  }

  it('tells of the requests that were made, so that silence proves something', () => {
    const records = said.split('\n').filter((line) => line.startsWith('{'))
    expect(records.filter((line) => line.includes('"correlation_id":"called"')).length).toBeGreaterThan(100)
    expect(said).toContain('credential refused')
    expect(said).toContain('"operation":"GetAuthWhoami"')
  })

  it('holds no secret, whole or in part', () => {
    const found = [...secrets].filter(([, secret]) => said.includes(secret) || said.includes(randomPartOf(secret)))
    expect(found.map(([name]) => name)).toEqual([])
    expect(secrets.size).toBe(14)
  })

  it('holds none in another spelling', () => {
    const spellings = (secret: string): readonly string[] => [
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64').slice(0, 40),
      Buffer.from(secret).toString('hex'),
      JSON.stringify(secret).slice(1, -1),
      /^[0-9a-f]{64}$/.test(secret) ? Buffer.from(secret, 'hex').toString('base64') : secret,
    ]
    const found = [...secrets].filter(([, secret]) => spellings(secret).some((spelling) => said.includes(spelling)))
    expect(found.map(([name]) => name)).toEqual([])
  })
})
