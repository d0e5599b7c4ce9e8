import { randomBytes, randomUUID } from 'node:crypto'
import { mintApiToken, mintNsk } from '../../../src/shared/credential-formats.ts'
import type { Callers } from './callers.ts'
import { pump, type Pumped, type Target } from './pump.ts'

/** A flood by name: what it sends until it is over. */
export interface Flood {
  readonly name: string
  readonly what: string
  /** How long a heartbeat of another node may take meanwhile, ms; undefined where that is not promised. */
  readonly heartbeatMsMax?: number
  readonly run: (target: Target, callers: Callers, scale: number) => Promise<Pumped>
}

/** Requests that are written at a time. */
const BATCH = 64

function request(line: string, headers: Readonly<Record<string, string>>): string {
  const fields = Object.entries({ Host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${fields.join('')}\r\n`
}

const batchOf =
  (one: () => string): (() => string) =>
  () =>
    Array.from({ length: BATCH }, one).join('')

/** A cookie as a session has it, of nobody. */
const cookie = (): string => `service_session=${randomBytes(32).toString('base64url')}`
const whoami = (headers: Readonly<Record<string, string>>): string => request('GET /v1/auth/whoami', headers)
const bearer = (token: string): Readonly<Record<string, string>> => ({ Authorization: `Bearer ${token}` })

/** Fewer connections in a short run, one at least. */
const scaled = (connections: number, scale: number): number => Math.max(1, Math.round(connections * scale))

interface Requests {
  readonly connections: number
  readonly reads: boolean
  readonly next: (callers: Callers) => () => string
}

function pipelined(name: string, what: string, { connections, reads, next }: Requests): Flood {
  return {
    name,
    what,
    run: (target, callers, scale) =>
      pump(target, { connections: scaled(connections, scale), reads, begin: () => next(callers) }),
  }
}

const cookies = (connections: number, reads: boolean): Flood =>
  pipelined(
    `cookies-${connections}-${reads ? 'read' : 'unread'}`,
    `${connections} connections with session cookies of nobody, ${reads ? 'answers read' : 'answers not read'}`,
    { connections, reads, next: () => batchOf(() => whoami({ Cookie: cookie() })) },
  )

/** Just under the 16 KiB that headers may have. */
const HEADER_BYTES = 14 * 1024
/** The largest body that an operation takes. */
const BODY_BYTES = 1024 * 1024

const FLOODS_OF_COOKIES = [1, 50, 400].flatMap((connections) => [
  cookies(connections, false),
  cookies(connections, true),
])

/** Every flood, in the order of a run. */
export const FLOODS: readonly Flood[] = [
  ...FLOODS_OF_COOKIES,
  pipelined('headers', '50 connections with headers of 14 KB, answers not read', {
    connections: 50,
    reads: false,
    next: () => () => whoami({ Cookie: cookie(), 'X-Filler': 'x'.repeat(HEADER_BYTES) }),
  }),
  pipelined('refusals', '50 connections of a token without the scope, refused with 403', {
    connections: 50,
    reads: true,
    next: ({ narrow }) => batchOf(() => request('GET /v1/nodes', bearer(narrow))),
  }),
  pipelined('lists-unread', '50 connections of a Domain admin who does not read pages of 200 audit rows', {
    connections: 50,
    reads: false,
    next: ({ admin, domainId }) =>
      batchOf(() => request(`GET /v1/audit?domain_id=${domainId}&limit=200`, bearer(admin))),
  }),
  {
    name: 'held-bodies',
    what: '1,500 connections of one admin, each with a body of 1 MiB that lacks its last byte',
    async run(target, { admin }, scale) {
      const headers = { ...bearer(admin), 'Content-Type': 'application/json', 'Content-Length': String(BODY_BYTES) }
      const head = Buffer.from(request('POST /v1/authz/relation-tuples/bulk', headers))
      const bytes = Buffer.concat([head, Buffer.alloc(BODY_BYTES - 1, ' ')])
      return pump(target, { connections: scaled(1_500, scale), reads: true, begin: () => once(bytes) })
    },
  },
  {
    ...pipelined('reports', '50 connections of a node with reports of 32 KiB, far beyond the target of its Domain', {
      connections: 50,
      reads: true,
      next:
        ({ node }) =>
        () =>
          report(node),
    }),
    heartbeatMsMax: 2_000,
  },
  pipelined('tokens', '50 connections with API tokens and node secret keys of nobody, their checksums right', {
    connections: 50,
    reads: false,
    next: () => batchOf(() => whoami(bearer(nobodysToken()))),
  }),
]

/** The largest report that is taken. */
const REPORT = JSON.stringify({ value: 'x'.repeat(32 * 1024 - '{"value":""}'.length) })

function report({ id, nsk }: Callers['node']): string {
  const headers = { ...bearer(nsk), 'Content-Type': 'application/json', 'Content-Length': String(REPORT.length) }
  return request(`PUT /v1/nodes/${id}/state/reports/flood`, headers) + REPORT
}

/** Gives the bytes one time. */
function once(bytes: Uint8Array): () => Uint8Array | undefined {
  let left: Uint8Array | undefined = bytes
  return () => {
    const now = left
    left = undefined
    return now
  }
}

let minted = 0

/** An API token or a node secret key, by turns. */
function nobodysToken(): string {
  minted += 1
  return minted % 2 === 0 ? mintApiToken('local', randomUUID()).token : mintNsk('local', randomUUID()).nsk
}
