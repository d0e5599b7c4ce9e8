import { request as requestOver } from 'node:http'
import { json } from 'node:stream/consumers'
import { encodeFrame } from '../composition/admin-frame.ts'
import { AdminRefusal, type AdminRequest } from '../ports/admin-command.ts'
import { BootError } from '../ports/boot-error.ts'

/** What a socket comes to that no server listens on: there is none, a dead one left it, or its path is too long for one. */
const NOBODY_LISTENS = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'EINVAL', 'ENAMETOOLONG'])
const PATIENCE_MS = 120_000

/**
 * Has the server that listens on the socket carry the command out. Resolves with its sentence; undefined where none listens.
 *
 * @throws AdminRefusal, and BootError where the server cannot be asked
 */
export async function askServer(socketPath: string, asked: AdminRequest): Promise<string | undefined> {
  try {
    const { status, message } = await exchange(socketPath, asked)
    if (status === 200) return message
    throw new AdminRefusal(message)
  } catch (error) {
    if (error instanceof AdminRefusal) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN'
    if (NOBODY_LISTENS.has(code)) return undefined
    if (code === 'EACCES')
      throw new BootError(1, `${socketPath} belongs to another user: run the command as the user of the server.`, error)
    throw new BootError(8, `The running server did not answer on ${socketPath} (${code}).`, error)
  }
}

interface Answered {
  readonly status: number
  readonly message: string
}

function exchange(socketPath: string, asked: AdminRequest): Promise<Answered> {
  const frame = encodeFrame(asked)
  const length = frame.reduce((sum, part) => sum + part.length, 0)
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const headers = { 'content-length': length }
    const sent = requestOver({ socketPath, method: 'POST', path: `/${asked.command}`, headers, signal }, (answer) => {
      json(answer).then((body) => resolve({ status: answer.statusCode ?? 500, message: messageIn(body) }), reject)
    })
    sent.on('error', reject)
    for (const part of frame) sent.write(part)
    sent.end()
  })
}

function messageIn(body: unknown): string {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  return typeof message === 'string' ? message : 'The running server gave an answer that cannot be read.'
}
