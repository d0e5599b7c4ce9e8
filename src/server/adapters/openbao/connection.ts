import type { Pool } from 'undici'
import { BaoError } from './bao-error.ts'

/** How OpenBao or Vault is reached. */
export interface BaoAddress {
  /** An origin, `https://bao.example.com:8200`. */
  readonly url: string
  /** Sent with each call but those of `sys`, which exists in the root namespace only. */
  readonly namespace: string | undefined
  /** Certificates in PEM to trust instead of the well-known ones. */
  readonly ca: string | undefined
  /** For one call, ms: connection, TLS and answer. */
  readonly deadlineMs?: number | undefined
}

/** One call of the HTTP API. */
export interface BaoCall {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Behind `/v1/`, each segment encoded. */
  readonly path: string
  readonly token?: string | undefined
  readonly body?: unknown
}

/** An answer, whatever its status. */
export interface BaoAnswer {
  readonly status: number
  /** The parsed JSON; undefined where there is no body, or none that is JSON. */
  readonly body: unknown
}

/** Connections to one server. Redirects are not followed: a token must not go where an answer points. */
export interface BaoConnection {
  /** @throws BaoError where no complete answer came in time. */
  send(call: BaoCall): Promise<BaoAnswer>
  close(): Promise<void>
}

const DEADLINE_MS = 5_000
const CONNECTIONS_MAX = 16
/** A secret of 64 KiB in base64 is 88 KiB; the metadata of 1,000 versions is 150 KiB. */
const BODY_BYTES_MAX = 1024 * 1024
const HEADER_BYTES_MAX = 16 * 1024

/** Opens no connection yet. undici is loaded for the first call. */
export function createBaoConnection(address: BaoAddress): BaoConnection {
  const { url, namespace, deadlineMs = DEADLINE_MS } = address
  let loaded: Promise<Pool> | undefined
  return {
    async send({ method, path, token, body }) {
      const pool = await (loaded ??= openPool(address, deadlineMs))
      const inNamespace = namespace !== undefined && !path.startsWith('sys/')
      try {
        const answer = await pool.request({
          method,
          path: `/v1/${path}`,
          signal: AbortSignal.timeout(deadlineMs),
          headers: {
            accept: 'application/json',
            'user-agent': 'ctl',
            // Asks proxies of the vendor not to answer for it.
            'x-vault-request': 'true',
            ...(token !== undefined && { 'x-vault-token': token }),
            ...(inNamespace && { 'x-vault-namespace': namespace }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          body: body === undefined ? null : JSON.stringify(body),
        })
        return { status: answer.statusCode, body: await parsed(answer.body) }
      } catch (error) {
        throw unanswered(error, { url, deadlineMs })
      }
    },
    async close() {
      await (await loaded)?.destroy()
    },
  }
}

async function openPool({ url, ca }: BaoAddress, deadlineMs: number): Promise<Pool> {
  const { Pool: Connections } = await import('undici')
  return new Connections(url, {
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
    // NODE_TLS_REJECT_UNAUTHORIZED=0 must have no effect here.
    connect: { timeout: deadlineMs, rejectUnauthorized: true, ...(ca !== undefined && { ca }) },
  })
}

/** Reads a body up to its limit. */
async function parsed(body: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return undefined
  }
}

interface Unanswered {
  readonly url: string
  readonly deadlineMs: number
}

/** The error of undici is not kept as the cause: one about a malformed answer holds the bytes of the answer. */
function unanswered(error: unknown, { url, deadlineMs }: Unanswered): BaoError {
  const code = codeOf(error)
  const isLate = /TIMEOUT|TIMEDOUT|TimeoutError/.test(code)
  return isLate
    ? new BaoError('timeout', `${url} did not answer within ${deadlineMs / 1000} s`)
    : new BaoError('unreachable', `${url} cannot be reached${code === '' ? '' : `: ${code}`}`)
}

function codeOf(error: unknown): string {
  const one: unknown = error instanceof AggregateError ? error.errors[0] : error
  if (!(one instanceof Error)) return ''
  return 'code' in one && typeof one.code === 'string' ? one.code : one.name
}
