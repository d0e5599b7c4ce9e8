import { once } from 'node:events'
import { connect } from 'node:net'

/** An answer as its bytes came, its header names in lower case. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** A connection on which nothing is sent but what the test writes. */
export interface RawSocket {
  send(bytes: string | Uint8Array): void
  /** Resolves with the answers so far once there are this many, or once the server closed the connection. */
  answers(count: number): Promise<readonly RawAnswer[]>
  /** Resolves with all answers when the server has closed the connection. */
  closed(): Promise<readonly RawAnswer[]>
  isOpen(): boolean
  destroy(): void
}

/** Connects to a port of this machine. Rejects when nobody listens there. */
export async function openRawSocket(port: number, localAddress = '127.0.0.1'): Promise<RawSocket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  const received: Buffer[] = []
  let changed: (() => void) | undefined
  const note = (): void => changed?.()
  let isOpen = true
  socket.on('data', (bytes) => {
    received.push(bytes)
    note()
  })
  socket.on('close', () => {
    isOpen = false
    note()
  })
  await once(socket, 'connect')
  // A server that refuses may close under what is still being sent.
  socket.on('error', () => undefined)

  async function until(isEnough: (answers: readonly RawAnswer[]) => boolean): Promise<readonly RawAnswer[]> {
    for (;;) {
      const answers = answersIn(Buffer.concat(received))
      if (!isOpen || isEnough(answers)) return answers
      await new Promise<void>((resolve) => {
        changed = resolve
      })
    }
  }

  return {
    send: (bytes) => void socket.write(bytes),
    answers: (count) => until((answers) => answers.length >= count),
    closed: () => until(() => false),
    isOpen: () => isOpen,
    destroy: () => void socket.destroy(),
  }
}

/** One request on a connection of its own, up to its first answer. */
export async function sendRaw(port: number, bytes: string | Uint8Array): Promise<RawAnswer> {
  const socket = await openRawSocket(port)
  socket.send(bytes)
  const [answer] = await socket.answers(1)
  socket.destroy()
  if (answer === undefined) throw new Error('the connection was closed without an answer')
  return answer
}

/** Whole answers within the bytes; each has a length or no body. */
function answersIn(bytes: Buffer): readonly RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf('\r\n\r\n', from)
    if (end === -1) break
    const [line = '', ...rest] = bytes.subarray(from, end).toString('latin1').split('\r\n')
    const headers = Object.fromEntries(rest.map((header) => headerOf(header)))
    const length = Number(headers['content-length'] ?? 0)
    const body = bytes.subarray(end + 4, end + 4 + length)
    if (body.length < length) break
    answers.push({ status: Number(line.split(' ')[1]), headers, text: body.toString('utf8') })
    from = end + 4 + length
  }
  return answers
}

function headerOf(line: string): readonly [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

/** The bytes of a request; `Host` is added, nothing else is. */
export function requestBytes(line: string, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`)
  return [`${line} HTTP/1.1`, ...lines, '', body].join('\r\n')
}
