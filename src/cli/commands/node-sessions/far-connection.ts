import { connect, type Socket } from 'node:net'
import { readFirstLine } from '../../agent/sessions/first-line.ts'
import { SESSION_PORT } from '../../agent/sessions/session-port.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { FarDoor } from './far-door.ts'
import { refusalOf } from './refusals.ts'

const CONNECT_MS_MAX = 5_000
/** The far agent may ask its server, and then gives the target 10 s. */
const ANSWER = { bytesMax: 256, timeoutMs: 30_000 }

/** Looks whether the far agent listens, before anything is issued. @throws CliError where it does not. */
export async function assertReachable(door: FarDoor): Promise<void> {
  const socket = await connected(door)
  socket.destroy()
}

/**
 * Opens a connection through the node: shows the token and waits until the target is connected. It is ended when the signal is
 * aborted.
 *
 * @throws CliError where the node cannot be reached, or refuses.
 */
export async function openThrough(door: FarDoor, token: string, until?: AbortSignal): Promise<Socket> {
  const socket = await connected(door)
  // The caller listens for errors; until then `close` ends the reading of the answer.
  const ignore = (): void => undefined
  socket.on('error', ignore)
  const end = (): void => void socket.destroy()
  until?.addEventListener('abort', end, { once: true })
  if (until?.aborted === true) end()
  socket.write(`${token}\n`)
  const answer = await readFirstLine(socket, ANSWER)
  if (answer !== 'ok') {
    socket.destroy()
    throw answer === undefined ? unanswered(door) : refusalOf(answer, door)
  }
  return socket
}

function connected({ name, address }: FarDoor): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port: SESSION_PORT, allowHalfOpen: true, noDelay: true })
    const fail = (): void => {
      clearTimeout(timer)
      socket.destroy()
      reject(
        new CliError(
          `${name} (${address}) does not answer on TCP ${SESSION_PORT}: "ctl agent status" shows whether the agent is up, here and there, and a policy may keep this node from that port (docs/policies.md, Mediated sessions)`,
          { exitCode: EXIT.unavailable, code: 'node_unreachable' },
        ),
      )
    }
    const timer = setTimeout(fail, CONNECT_MS_MAX)
    socket.once('error', fail)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.off('error', fail)
      resolve(socket)
    })
  })
}

function unanswered({ name }: FarDoor): CliError {
  return new CliError(`the agent of ${name} closed the connection without an answer`, {
    exitCode: EXIT.unavailable,
    code: 'node_unreachable',
    hints: [`Its log has the reason: ctl agent logs, on ${name}`],
  })
}
