import { createConnection, type Socket } from 'node:net'
import { tunnelFault } from '../tunnel-fault.ts'
import { decodeMessage, encodeMessage, type ReadSection, type ViciSection } from './vici-message.ts'

const DEADLINE_MS = 5_000
/** The limit of the protocol. */
const PACKET_BYTES_MAX = 512 * 1024
const LENGTH_BYTES = 4
const PACKET = { request: 0, response: 1, register: 3, confirm: 5, event: 7 } as const

/** The control interface of a charon. */
export interface Vici {
  /** Sends a command. @throws CliError where charon refuses it or does not answer. */
  request(command: string, message?: ViciSection): Promise<ReadSection>
  /** Sends a command that answers by events of that name, and resolves with them. */
  list(command: string, event: string, message?: ViciSection): Promise<readonly ReadSection[]>
}

/** Opens a connection for each command. */
export function createVici(path: string): Vici {
  const ask = (packets: readonly [Buffer, ...Buffer[]], isLast: (type: number) => boolean) =>
    exchange(path, packets, isLast)
  return {
    async request(command, message = {}) {
      const [answer] = await ask([packetOf(PACKET.request, command, message)], (type) => type !== PACKET.event)
      return succeeded(command, answer)
    },
    async list(command, event, message = {}) {
      const request = packetOf(PACKET.request, command, message)
      const answers = await ask(
        [packetOf(PACKET.register, event), request],
        (type) => type !== PACKET.event && type !== PACKET.confirm,
      )
      succeeded(command, answers.at(-1))
      return answers
        .filter(({ type }) => type === PACKET.event)
        .map(({ body }) => decodeMessage(body.subarray(1 + (body[0] ?? 0))))
    },
  }
}

/** Whether a charon answers on the socket. */
export async function isCharon(path: string): Promise<boolean> {
  try {
    await createVici(path).request('version')
    return true
  } catch {
    // The file is missing, nothing listens any more, or something else does.
    return false
  }
}

interface Packet {
  readonly type: number
  readonly body: Buffer
}

function packetOf(type: number, name: string, message: ViciSection = {}): Buffer {
  const body = Buffer.concat([Buffer.from([type, name.length]), Buffer.from(name), encodeMessage(message)])
  if (body.length > PACKET_BYTES_MAX) throw tunnelFault('The configuration is too long for strongSwan.')
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(body.length)
  return Buffer.concat([length, body])
}

function succeeded(command: string, packet: Packet | undefined): ReadSection {
  if (packet?.type !== PACKET.response) throw tunnelFault(`strongSwan does not know the command ${command}.`)
  const answer = decodeMessage(packet.body)
  if (answer['success'] === 'no') {
    throw tunnelFault(
      `strongSwan refused ${command}: ${typeof answer['errmsg'] === 'string' ? answer['errmsg'] : 'no reason'}.`,
    )
  }
  return answer
}

function exchange(
  path: string,
  [first, ...unsent]: readonly [Buffer, ...Buffer[]],
  isLast: (type: number) => boolean,
): Promise<readonly Packet[]> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path)
    const fail = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(DEADLINE_MS, () => fail(tunnelFault(`strongSwan did not answer within ${DEADLINE_MS / 1000} s.`)))
    socket.on('error', fail)
    socket.on('close', () => fail(tunnelFault('strongSwan closed the connection before its answer was complete.')))
    const answers: Packet[] = []
    readPackets(socket, { fail }, (packet) => {
      answers.push(packet)
      const next = packet.type === PACKET.confirm ? unsent.shift() : undefined
      if (next !== undefined) socket.write(next)
      if (!isLast(packet.type)) return
      resolve(answers)
      socket.destroy()
    })
    socket.write(first)
  })
}

function readPackets(
  socket: Socket,
  { fail }: { readonly fail: (error: Error) => void },
  take: (packet: Packet) => void,
): void {
  let buffered: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk])
    while (buffered.length >= LENGTH_BYTES && !socket.destroyed) {
      const end = LENGTH_BYTES + buffered.readUInt32BE()
      if (end > LENGTH_BYTES + PACKET_BYTES_MAX) fail(tunnelFault('strongSwan answered with too much.'))
      if (end > buffered.length) return
      take({ type: buffered[LENGTH_BYTES] ?? -1, body: buffered.subarray(LENGTH_BYTES + 1, end) })
      buffered = buffered.subarray(end)
    }
  })
}
