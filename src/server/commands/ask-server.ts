import { request as requestOver, type IncomingMessage } from 'node:http'
import { encodeFrame } from '../composition/admin-frame.ts'
import { AdminRefusal, type AdminRequest } from '../ports/admin-command.ts'
import { BootError } from '../ports/boot-error.ts'

/** What a socket comes to that no server listens on: there is none, a dead one left it, or its path is too long for one. */
const NOBODY_LISTENS = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'EINVAL', 'ENAMETOOLONG'])
/** How long the server may be silent, in ms: a long command reports every second. */
const PATIENCE_MS = 120_000

/**
 * Has the server that listens on the socket carry the command out. Resolves with its sentence; undefined where none listens.
 *
 * @param onReport hears how far a long command is
 * @throws AdminRefusal, and BootError where the server cannot be asked
 */
export async function askServer(
  socketPath: string,
  asked: AdminRequest,
  onReport: (sentence: string) => void = () => undefined,
): Promise<string | undefined> {
  try {
    const { status, message } = await exchange(socketPath, asked, onReport)
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

function exchange(socketPath: string, asked: AdminRequest, onReport: (sentence: string) => void): Promise<Answered> {
  const frame = encodeFrame(asked)
  const length = frame.reduce((sum, part) => sum + part.length, 0)
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': length }
    const options = { socketPath, method: 'POST', path: `/${asked.command}`, headers, timeout: PATIENCE_MS }
    const sent = requestOver(options, (answer) => {
      readAnswer(answer, onReport).then(resolve, reject)
    })
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
    sent.on('error', reject)
    for (const part of frame) sent.write(part)
    sent.end()
  })
}

/** Reads lines, of which a short command has one. @throws the system's error where it was cut off */
async function readAnswer(answer: IncomingMessage, onReport: (sentence: string) => void): Promise<Answered> {
  let rest = ''
  for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const answered = readLine(line, answer.statusCode)
      if (typeof answered !== 'string') return answered
      onReport(answered)
    }
  }
  const answered = readLine(rest, answer.statusCode)
  if (typeof answered !== 'string') return answered
  throw Object.assign(new Error('the answer was cut off'), { code: 'ECONNRESET' })
}

/** A report, or the answer. */
function readLine(text: string, status = 500): string | Answered {
  const line: unknown = text === '' ? undefined : JSON.parse(text)
  if (typeof line !== 'object' || line === null) return ''
  if ('report' in line) return String(line.report)
  return { status: 'status' in line ? Number(line.status) : status, message: messageIn(line) }
}

function messageIn(line: object): string {
  const message = 'message' in line ? line.message : undefined
  return typeof message === 'string' ? message : 'The running server gave an answer that cannot be read.'
}
