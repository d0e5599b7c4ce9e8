import pino from 'pino'
import { expect } from 'vitest'
import { openBackend, type Backend } from '../../../src/server/composition/backend.ts'
import { parseConfig } from '../../../src/server/config/config.ts'
import { createMemoryHandover } from '../../../src/server/first-run/memory-handover.ts'
import { serve, type RunningServer } from '../../../src/server/composition/serve.ts'

/** Everything of `ctl serve` in this process, with what it rests on. */
export interface WholeServer {
  readonly server: RunningServer
  readonly backend: Backend
}

/** Starts it with these options of the command line, on a free port of loopback unless told otherwise. */
export async function startWholeServer(args: readonly string[], listen = '127.0.0.1:0'): Promise<WholeServer> {
  const argv = ['--listen', listen, '--log-level', 'silent', ...args]
  const opened: Backend[] = []
  const server = await serve({
    config: parseConfig({ argv, env: {} }),
    log: pino({ level: 'silent' }),
    handover: createMemoryHandover(),
    onBroken: (error) => expect.fail(error.message),
    async openBackend(...asked) {
      const backend = await openBackend(...asked)
      opened.push(backend)
      return backend
    },
  })
  const [backend] = opened
  if (backend === undefined) throw new Error('the server opened nothing')
  return { server, backend }
}
