import type { Socket } from 'node:net'
import type { Log } from '../log.ts'
import type { AddressLookup } from './address-lookup.ts'
import type { Admission } from './admit.ts'
import { readFirstLine } from './first-line.ts'
import { reachTarget, type Reached } from './reach-target.ts'
import { relay } from './relay.ts'
import { requestIn } from './session-activity.ts'
import { readTarget, type TargetRule } from './session-target.ts'
import type { SessionUse } from './session-use.ts'
import type { SessionUses } from './session-uses.ts'

/** What a connection needs. */
export interface ServeDeps {
  readonly admit: (token: string) => Promise<Admission>
  readonly uses: SessionUses
  readonly isAllowed: TargetRule
  readonly resolve: AddressLookup
  readonly log: Log
}

/** The token, as the first line of a connection (agent protocol, Mediated sessions). */
const TOKEN = { bytesMax: 4_096, timeoutMs: 10_000 }
const CONNECTIONS_PER_SESSION_MAX = 64
/** Connections that have shown no token of a live session. */
const STRANGERS_MAX = 64
/** How long a refused connection gets to read why. */
const LINGER_MS = 1_000

/** Makes what serves the connections of sessions, from the token to the last byte. */
export function createConnectionServer(deps: ServeDeps): (socket: Socket) => Promise<void> {
  let strangers = 0

  async function admission(socket: Socket): Promise<Admission | undefined> {
    strangers += 1
    try {
      const token = await readFirstLine(socket, TOKEN)
      return token === undefined ? undefined : await deps.admit(token)
    } finally {
      strangers -= 1
    }
  }

  return async (socket) => {
    // The end of the socket is all that matters of an error, and `close` follows.
    socket.on('error', () => undefined)
    if (strangers >= STRANGERS_MAX) return void socket.destroy()
    const admitted = await admission(socket)
    if (admitted === undefined) return void socket.destroy()
    if (!admitted.ok) return refuse(socket, admitted.fault)
    return open(deps, socket, admitted)
  }
}

type Admitted = Extract<Admission, { readonly ok: true }>

async function open(deps: ServeDeps, socket: Socket, admitted: Admitted): Promise<void> {
  const { session } = admitted
  const use = deps.uses.of(session)
  if (use.connections() >= CONNECTIONS_PER_SESSION_MAX) return refuse(socket, 'too_many_connections')
  if (use.connections() === 0) deps.log.line(openedLine(admitted, socket))
  const settle = use.begin()
  const reached = await reach(deps, use)
  if (!reached.ok || socket.destroyed || !deps.uses.has(use)) {
    settle(undefined)
    if (reached.ok) reached.socket.destroy()
    return refuse(socket, reached.ok ? 'not_live' : reached.fault)
  }
  if (session.kind === 'cluster_api') socket.once('data', (chunk: Buffer) => use.saw(requestIn(chunk)))
  socket.write('ok\n')
  settle(relay(socket, reached.socket))
}

function openedLine({ session, subject }: Admitted, { remoteAddress = '' }: Socket): string {
  return `sessions: ${session.session_id} (${session.kind} ${session.target}) of ${subject} from ${remoteAddress}`
}

/** Connects to the target of a session, as far as the node lets it. */
function reach({ isAllowed, resolve }: ServeDeps, { session }: SessionUse): Promise<Reached> {
  const target = readTarget(session.kind, session.target)
  return target === undefined
    ? Promise.resolve({ ok: false, fault: 'target_refused' })
    : reachTarget(target, { isAllowed, resolve })
}

/** Says why, and ends the connection. */
function refuse(socket: Socket, fault: string): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
  socket.resume()
  socket.end(`refused ${fault}\n`)
}
