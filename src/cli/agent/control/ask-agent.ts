import { connect } from 'node:net'
import { agentError, systemCode } from '../errors.ts'
import type { ControlRequest } from './control-socket.ts'
import { EXIT } from '../../errors/exit-code.ts'

const ANSWER_BYTES_MAX = 64 * 1024 * 1024
const TIMEOUT_MS = 30_000

/** Asks the running agent. Undefined where none listens. @throws CliError where it does not answer, or refuses. */
export async function askAgent(path: string, request: ControlRequest): Promise<unknown> {
  let text: string
  try {
    text = await exchange(path, request)
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes(systemCode(error))) return undefined
    if (systemCode(error) === 'EACCES')
      throw agentError('not_permitted', `${path} is not open to this user`, {
        exitCode: EXIT.denied,
        hints: ['Run the command with sudo.'],
        cause: error,
      })
    throw error
  }
  return valueOf(text)
}

function valueOf(text: string): unknown {
  if (!text.endsWith('\n')) throw agentError('agent_silent', 'the agent ended before it answered')
  const reply = JSON.parse(text) as { readonly ok: boolean; readonly value?: unknown; readonly error?: string }
  if (reply.ok) return reply.value
  throw agentError('agent_failed', `the agent answers: ${reply.error ?? 'it failed'}`)
}

function exchange(path: string, request: ControlRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    let text = ''
    socket.setEncoding('utf8')
    socket.setTimeout(TIMEOUT_MS, () =>
      socket.destroy(agentError('agent_silent', `the agent does not answer within ${TIMEOUT_MS / 1000} s`)),
    )
    socket.on('error', reject)
    socket.on('data', (chunk: string) => {
      text += chunk
      if (text.length > ANSWER_BYTES_MAX) socket.destroy(agentError('agent_failed', 'the answer is over 64 MiB'))
    })
    socket.on('close', () => resolve(text))
    socket.write(`${request}\n`)
  })
}
