import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { problem, type ProblemCode } from '../../shared/problems.ts'
import { problemDocument } from './problem-responses.ts'

const CODES: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Answers bytes that are no HTTP request with a problem document on the bare socket, and closes it. */
export function answerGarbage(error: Error & { readonly code?: string }, socket: Socket, correlationId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const answer = problem(CODES[error.code ?? ''] ?? 'invalid_request')
  const body = JSON.stringify(problemDocument(answer, correlationId))
  socket.end(
    [
      `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Correlation-Id: ${correlationId}`,
      'X-Service-API-Version: current=v1, latest=v1',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
