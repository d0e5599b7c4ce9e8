import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Starts a script of this folder in a process of its own; what it fails with ends the benchmark. */
export function start(script, parameters, options = {}) {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = fork(path, parameters, { serialization: 'advanced', ...options })
  child.once('exit', (code, signal) => {
    if (code !== 0 && signal !== 'SIGTERM') throw new Error(`${script} ended with ${code ?? signal}`)
  })
  return child
}

export async function nextMessage(child) {
  const [message] = await once(child, 'message')
  return message
}
