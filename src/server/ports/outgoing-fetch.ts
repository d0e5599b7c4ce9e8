/** One request to an address that somebody configured. */
export interface OutgoingRequest {
  readonly method?: 'GET' | 'POST' | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Uint8Array | undefined
  /** Whether the address may be private, loopback or link-local, and the connection plain `http:`. */
  readonly allowPrivateNetwork: boolean
  /** What a redirect comes to: an error, or the answer itself for anyone who wants to read where it points. Never followed. */
  readonly redirect?: 'refused' | 'returned' | undefined
  /** The longest body in bytes, where what the fetch takes at most is too much: 1 MiB unless it was made for more. */
  readonly bodyBytesMax?: number | undefined
  /** What a longer body comes to, and one that breaks off: an error, or the answer with the beginning of the body alone. */
  readonly excess?: 'refused' | 'cut' | undefined
  readonly signal?: AbortSignal | undefined
}

export interface OutgoingAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Why nothing came back; `message` is for logs and administrators, and names no secret. */
export class OutgoingFetchError extends Error {
  readonly reason: 'forbidden_address' | 'redirect' | 'too_large' | 'timeout' | 'unreachable'
  /** `ECONNREFUSED`, `CERT_HAS_EXPIRED`, `UND_ERR_SOCKET`: fixed words that contain nothing of the request. */
  readonly code: string | undefined

  constructor(reason: OutgoingFetchError['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'OutgoingFetchError'
    this.reason = reason
    this.code = codeOf(cause)
  }
}

/**
 * Fetches what an administrator pointed at, and nothing that they must not reach through this server (decisions:
 * Outgoing fetches): the address is checked on the connected socket, redirects are refused, 1 MiB and 5 s at most.
 *
 * @throws OutgoingFetchError
 */
export type OutgoingFetch = (url: string, request: OutgoingRequest) => Promise<OutgoingAnswer>

/** The code of what the system, TLS or the HTTP client threw; of several errors, of the first. */
export function codeOf(error: unknown): string | undefined {
  const one: unknown = error instanceof AggregateError ? error.errors[0] : error
  const code: unknown = one instanceof Error && 'code' in one ? one.code : undefined
  return typeof code === 'string' ? code : undefined
}
