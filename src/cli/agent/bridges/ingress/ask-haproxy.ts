import { createConnection } from 'node:net'
import { systemCode } from '../../errors.ts'

/** Long, since one that does not answer is ended with all its connections, and the machine may only be busy. */
const ANSWER_MS_MAX = 10_000

/** What HAProxy answers to a command on the socket of its master; undefined where nothing listens, or nothing is answered in time. */
export function askHaproxy(socketPath: string, command: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let answer = ''
    // The end of the question is the end of the session.
    const socket = createConnection({ path: socketPath, allowHalfOpen: true }, () => socket.end(`${command}\n`))
    socket.setEncoding('utf8').setTimeout(ANSWER_MS_MAX, () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.on('data', (chunk: string) => (answer += chunk))
    socket.once('end', () => resolve(answer))
    socket.once('error', (error) => {
      if (GONE.has(systemCode(error))) resolve(undefined)
      else reject(error)
    })
  })
}

/** The socket is not there, is one of a process that has ended, or is closed by one that starts itself again. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'])

/** The digest in the description of the configuration that its present worker runs; undefined where none answers. */
export async function runningDigest(socketPath: string): Promise<string | undefined> {
  return /^description: ([0-9a-f]{64})$/m.exec((await askHaproxy(socketPath, '@1 show info')) ?? '')?.[1]
}

/** Its processes. */
export interface HaproxyProcesses {
  /** Reloads that failed since the master was started. */
  readonly failedReloads: number
  /** Workers that still carry connections of former configurations. */
  readonly oldWorkers: readonly number[]
}

/** Reads the processes of a running HAProxy; undefined where none answers. */
export async function haproxyProcesses(socketPath: string): Promise<HaproxyProcesses | undefined> {
  const answer = await askHaproxy(socketPath, 'show proc')
  const failed = /^\d+\s+master\s+\d+ \[failed: (\d+)\]/m.exec(answer ?? '')?.[1]
  if (answer === undefined || failed === undefined) return undefined
  const [, old = ''] = answer.split('# old workers\n')
  const pids = [...old.matchAll(/^(\d+)\s+worker\s/gm)].map(([, pid]) => Number(pid))
  return { failedReloads: Number(failed), oldWorkers: pids }
}

/** Cuts the connections of workers with former configurations that go to one of the backends. */
export async function cutOldSessions(socketPath: string, backends: ReadonlySet<string>): Promise<void> {
  const { oldWorkers } = (await haproxyProcesses(socketPath)) ?? { oldWorkers: [] }
  for (const pid of oldWorkers) {
    // Backends of these workers are disabled, so that their connections are cut one by one.
    const sessions = (await askHaproxy(socketPath, `@!${pid} show sess`)) ?? ''
    for (const [, id = '', backend = ''] of sessions.matchAll(/^(0x[0-9a-f]+): .* be=(\S+) /gm))
      if (backends.has(backend)) await askHaproxy(socketPath, `@!${pid} shutdown session ${id}`)
  }
}
