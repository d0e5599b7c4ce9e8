import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Box, Lab } from './lab.ts'

const CHILD = fileURLToPath(new URL('stream-child.mjs', import.meta.url))

/** What both ends of a connection counted. */
export interface StreamCount {
  readonly sentBytes: number
  readonly receivedBytes: number
  /** Whether every byte arrived at its place. */
  readonly isInOrder: boolean
  readonly longestStallMs: number
}

/** An open TCP connection on which bytes flow. */
export interface TcpStream {
  /** Ends it after its last byte arrived. */
  end(): Promise<StreamCount>
}

/** Opens a TCP connection between two boxes, on which 256 bytes are sent every 5 ms. */
export async function openTcpStream(
  lab: Lab,
  from: Box,
  to: { readonly box: Box; readonly address: string; readonly port: number },
): Promise<TcpStream> {
  const receiver = run(lab, to.box, ['receive', to.address, String(to.port)])
  await receiver.line()
  const sender = run(lab, from, ['send', to.address, String(to.port)])
  await receiver.line()
  return {
    async end() {
      sender.finish()
      const [sent, received] = [JSON.parse(await sender.line()), JSON.parse(await receiver.line())]
      return {
        sentBytes: sent.bytes,
        receivedBytes: received.bytes,
        isInOrder: received.isInOrder,
        longestStallMs: received.longestStallMs,
      }
    },
  }
}

function run(lab: Lab, box: Box, args: readonly string[]) {
  const child = lab.spawn(box, [process.execPath, CHILD, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('The process has no pipes.')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  return {
    async line(): Promise<string> {
      const { value } = await lines.next()
      if (value === undefined) throw new Error('A process of the connection ended early.')
      return String(value)
    },
    finish: () => void stdin.end(),
  }
}
