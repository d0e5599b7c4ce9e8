import { createConnection } from 'node:net'

const DEADLINE_MS = 2_000
const ANSWER_BYTES_MAX = 64 * 1024
/** The second value of the line that answers `state`: `1700000000,CONNECTED,SUCCESS,…`. */
const STATE = /^\d+,([A-Z_]+),/m

/**
 * Asks OpenVPN on its management socket for its state, such as `CONNECTED` or `WAIT`. Undefined: it does not answer, because it has
 * ended, is starting, or is busy.
 */
export function openvpnState(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path)
    let answer = ''
    const end = () => {
      socket.destroy()
      resolve(STATE.exec(answer)?.[1])
    }
    socket.setTimeout(DEADLINE_MS, end)
    socket.setEncoding('latin1')
    socket.on('error', end)
    socket.on('close', end)
    socket.on('data', (chunk: string) => {
      answer += chunk
      if (STATE.test(answer) || answer.length > ANSWER_BYTES_MAX) end()
    })
    socket.write('state\n')
  })
}
