import { randomUUID } from 'node:crypto'
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { invalid, KvEngine, type Reply } from './engine.ts'
import { TransitEngine } from './transit-engine.ts'

/** How the emulator behaves; change it at any time. */
export interface BaoMoods {
  isSealed: boolean
  isStandby: boolean
  /** Answers nothing. */
  isSilent: boolean
  /** Answers each call of the engine with this. */
  engineAnswers: Reply | undefined
  /** Called before the engine answers; what it gives is the answer. */
  before: ((call: Call) => Reply | undefined | Promise<Reply | undefined>) | undefined
  /** Performs the call and then breaks the connection, so that the caller cannot know. */
  breaksAfter: ((call: Call) => boolean) | undefined
  /** Of the tokens that logins give. */
  leaseSeconds: number
  isRenewable: boolean
  renewalFails: boolean
  loginFails: boolean
}

/** A call as it arrived. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly token: string | undefined
  readonly namespace: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** An emulated OpenBao with a KV engine at `secret/` and a Transit engine at `transit/`. It is written from the documented API; no real server was at hand. */
export interface BaoEmulator {
  readonly url: string
  readonly moods: BaoMoods
  readonly kv: KvEngine
  readonly transit: TransitEngine
  readonly tokens: Set<string>
  readonly calls: Call[]
  /** Makes a token that is valid until it is revoked. */
  issue(): string
  revokeAll(): void
  stop(): Promise<void>
}

export interface BaoSettings {
  readonly tls?: { readonly cert: string; readonly key: string }
  /** The engine is in this namespace. */
  readonly namespace?: string
  /** Engines and tokens of an emulator that was stopped: this one goes on in its place. */
  readonly successorOf?: BaoEmulator
  readonly port?: number
}

export const ROLE = {
  roleId: 'role-of-ctl',
  secretId: 'secret-id-of-ctl',
  kubernetesRole: 'ctl',
  jwt: 'header.claims.mac',
}

export async function startBaoEmulator(settings: BaoSettings = {}): Promise<BaoEmulator> {
  const { tls, namespace, successorOf: former, port: chosen = 0 } = settings
  const kv = former?.kv ?? new KvEngine()
  const transit = former?.transit ?? new TransitEngine()
  const tokens = former?.tokens ?? new Set<string>()
  const calls: Call[] = []
  const moods: BaoMoods = {
    isSealed: false,
    isStandby: false,
    isSilent: false,
    engineAnswers: undefined,
    before: undefined,
    breaksAfter: undefined,
    leaseSeconds: 3600,
    isRenewable: true,
    renewalFails: false,
    loginFails: false,
  }
  const issue = (): string => {
    const token = `s.${randomUUID()}`
    tokens.add(token)
    return token
  }
  const world: World = { kv, transit, tokens, moods, namespace, issue }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = await callOf(request)
    calls.push(call)
    if (moods.isSilent) return
    const reply = (await moods.before?.(call)) ?? answerTo(call, world)
    if (moods.breaksAfter?.(call) === true) return void request.socket.destroy()
    response.writeHead(reply.status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body))
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void handle(request, response).catch(() => request.socket.destroy())
  const server = tls === undefined ? createPlainServer(listener) : createTlsServer(tls, listener)
  await new Promise<void>((resolve) => server.listen(chosen, '127.0.0.1', resolve))
  // `address` gives a text only for pipes.
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    moods,
    kv,
    transit,
    tokens,
    calls,
    issue,
    revokeAll: () => tokens.clear(),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface World {
  readonly kv: KvEngine
  readonly transit: TransitEngine
  readonly tokens: Set<string>
  readonly moods: BaoMoods
  readonly namespace: string | undefined
  readonly issue: () => string
}

async function callOf(request: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://emulator')
  return {
    method: request.method ?? '',
    path: decodeURIComponent(pathname).replace(/^\/v1\//, ''),
    query: searchParams,
    token: headerOf(request, 'x-vault-token'),
    namespace: headerOf(request, 'x-vault-namespace'),
    body: text === '' ? {} : JSON.parse(text),
  }
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

const DENIED: Reply = { status: 403, body: { errors: ['1 error occurred:\n\t* permission denied\n\n'] } }

function answerTo(call: Call, world: World): Reply {
  const { moods } = world
  if (call.path === 'sys/health') return healthOf(call, moods)
  if (moods.isSealed) return { status: 503, body: { errors: ['Vault is sealed'] } }
  if (call.namespace !== world.namespace) return noRoute(call.path)
  if (/^auth\/[^/]+\/login$/.test(call.path)) return loginOf(call, world)
  if (call.token === undefined || !world.tokens.has(call.token)) return DENIED
  if (call.path === 'auth/token/lookup-self')
    return { status: 200, body: { data: { ttl: moods.leaseSeconds, renewable: moods.isRenewable } } }
  if (call.path === 'auth/token/renew-self') return moods.renewalFails ? DENIED : authOf(call.token, moods)
  return moods.engineAnswers ?? engineAnswer(call, world)
}

function healthOf({ query }: Call, { isSealed, isStandby }: BaoMoods): Reply {
  const body = { initialized: true, sealed: isSealed, standby: isStandby, version: '2.5.0' }
  if (isSealed) return { status: 503, body }
  return { status: isStandby && query.get('standbyok') !== 'true' ? 429 : 200, body }
}

function loginOf({ path, body }: Call, { moods, issue }: World): Reply {
  const isAppRole = path === 'auth/approle/login'
  const isRight = isAppRole
    ? body['role_id'] === ROLE.roleId && body['secret_id'] === ROLE.secretId
    : body['role'] === ROLE.kubernetesRole && body['jwt'] === ROLE.jwt
  if (!isRight || moods.loginFails) return isAppRole ? invalid('invalid role or secret ID') : DENIED
  return authOf(issue(), moods)
}

function authOf(token: string, { leaseSeconds, isRenewable }: BaoMoods): Reply {
  const auth = { client_token: token, lease_duration: leaseSeconds, renewable: isRenewable, policies: ['ctl'] }
  return { status: 200, body: { auth, data: null, warnings: null } }
}

function engineAnswer(call: Call, { kv, transit }: World): Reply {
  const { method, path, query, body } = call
  if (path.startsWith('transit/')) return transitAnswer(call, transit)
  const [, part = '', key = ''] = /^secret\/(data|metadata|destroy)\/(.+)$/.exec(path) ?? []
  const routes: Readonly<Record<string, () => Reply>> = {
    'GET data': () => kv.read(key, Number(query.get('version') ?? 0)),
    'POST data': () => kv.write(key, body),
    'GET metadata': () => kv.readMetadata(key),
    'POST metadata': () => kv.writeMetadata(key, body),
    'DELETE metadata': () => kv.deleteMetadata(key),
    'POST destroy': () => kv.destroy(key, body),
  }
  return routes[`${method} ${part}`]?.() ?? noRoute(path)
}

function transitAnswer({ method, path, body }: Call, transit: TransitEngine): Reply {
  const [, part = '', key = '', action = ''] = /^transit\/(keys|sign)\/([^/]+)(\/rotate)?$/.exec(path) ?? []
  const routes: Readonly<Record<string, () => Reply>> = {
    'GET keys': () => transit.read(key),
    'POST keys': () => transit.create(key, body),
    'POST keys/rotate': () => transit.rotate(key),
    'POST sign': () => transit.sign(key, body),
  }
  return routes[`${method} ${part}${action}`]?.() ?? noRoute(path)
}

function noRoute(path: string): Reply {
  return { status: 404, body: { errors: [`no handler for route "${path}". route entry not found.`] } }
}
