import type { FastifyRequest } from 'fastify'
import type { SentCall } from '../../ports/held-calls.ts'

/** The call as it arrived. Its body was decoded as JSON before, so it is text. */
export function sentCallOf(
  { method, url, body, headers }: FastifyRequest,
  facts: Omit<SentCall, 'method' | 'url' | 'body' | 'ifMatch'>,
): SentCall {
  return { method, url, body: bytesOf(body)?.toString('utf8') ?? '', ifMatch: headers['if-match'], ...facts }
}

/** Operations receive their body as bytes (`acceptBodies` of `mount.ts`); none where there was no body. */
function bytesOf(body: unknown): Buffer | undefined {
  if (typeof body !== 'object' || body === null || !('bytes' in body)) return undefined
  return Buffer.isBuffer(body.bytes) ? body.bytes : undefined
}
