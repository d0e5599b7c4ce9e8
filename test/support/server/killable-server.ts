import { startCtl, type CtlProcess } from './ctl-process.ts'
import { callServer, type Answered, type ApiCall } from './replicas.ts'

/** A server that is killed in the middle of requests, and started again over the same datastore. */
export interface KillableServer {
  call(of: ApiCall): Promise<Answered>
  /** Makes the call, and resolves with how many statements the process sent meanwhile. @throws Error when it is refused. */
  statementsOf(of: ApiCall): Promise<number>
  /** Makes the call, is killed at a place of it (`kill-at-count.mjs`), and starts again. */
  killDuring(of: ApiCall, place: string): Promise<void>
  /** Stops in order. */
  stop(): Promise<void>
}

const PRELOAD = new URL('../datastores/kill-at-count.mjs', import.meta.url).href
const WITHOUT_SYNC = new URL('../datastores/without-sync.mjs', import.meta.url).href

/** Starts it with these arguments and variables. */
export async function startKillable(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<KillableServer> {
  const start = (): Promise<CtlProcess> =>
    startCtl({ args, env: { ...env, NODE_OPTIONS: `--import=${WITHOUT_SYNC} --import=${PRELOAD}` } })
  let server = await start()
  return {
    call: (of) => callServer(server, of),
    async statementsOf(of) {
      const { status, text } = await send(server, of, '0')
      if (status >= 300) throw new Error(`${of.path}: ${status} ${text}`)
      return Number(/statements: (\d+)\n$/.exec(server.stderr())?.[1])
    },
    async killDuring(of, place) {
      const answer = await send(server, of, place).catch((error: unknown) => {
        if (error instanceof TypeError) return undefined
        throw error
      })
      if (answer !== undefined) throw new Error(`${of.path} was answered with ${answer.status}: ${answer.text}`)
      const ended = await server.ended()
      if (ended !== 'SIGKILL') throw new Error(`the server ended with ${String(ended)}: ${server.stderr()}`)
      server = await start()
    },
    async stop() {
      await server.end('SIGTERM')
    },
  }
}

async function send({ url }: CtlProcess, { token, method = 'GET', path, body }: ApiCall, place: string) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-test-kill-at': place },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

/** Every place of a call that sends so many statements: before each, right after it is sent, and before the answer. */
export function placesOf(statements: number): readonly string[] {
  const each = Array.from({ length: statements }, (_, index) => [`${index + 1}`, `${index + 1} sent`])
  return [...each.flat(), 'answer']
}

/** So many of the places at most, evenly spread; the last one is among them. */
export function spread(places: readonly string[], most: number): readonly string[] {
  if (places.length <= most) return places
  return places.filter(
    (_, at) => Math.floor(((at + 1) * most) / places.length) > Math.floor((at * most) / places.length),
  )
}
