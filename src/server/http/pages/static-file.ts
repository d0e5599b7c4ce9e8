import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ContentCoding, StaticFile } from './pages.ts'

const YEAR_SECONDS = 31_536_000

/** Sends a file in the smallest coding that the browser takes, or 304 where the browser has it already. */
export function sendFile(reply: FastifyReply, file: StaticFile, headers: IncomingHttpHeaders): void {
  const coding = codingFor(headers['accept-encoding'])
  const etag = `"${file.digest}-${coding}"`
  void reply.headers({
    'Cache-Control': file.isImmutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    ETag: etag,
    Vary: 'Accept-Encoding',
    ...(file.policy !== undefined && { 'Content-Security-Policy': file.policy }),
  })
  if (isKept(headers['if-none-match'], etag)) return void reply.code(304).send()
  if (coding !== 'identity') void reply.header('Content-Encoding', coding)
  void reply.header('Content-Type', file.media).send(file.bytes[coding])
}

/**
 * The coding to send: the smallest that `Accept-Encoding` names with a weight above 0 (RFC 9110 §12.5.3). Everybody takes bytes as they
 * are, so a header that forbids all codings is answered with these.
 */
export function codingFor(accepted: string | undefined): ContentCoding {
  const weights = new Map((accepted ?? '').split(',').map(weightOf))
  const takes = (coding: ContentCoding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0
  return (['br', 'gzip'] as const).find(takes) ?? 'identity'
}

function weightOf(member: string): readonly [string, number] {
  const [name = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return [name, weight === undefined ? 1 : Number(weight.slice(2))]
}

/** Whether `If-None-Match` has the tag; weak comparison (RFC 9110 §13.1.2). */
function isKept(tags: string | undefined, etag: string): boolean {
  if (tags === undefined) return false
  return tags.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))
}
