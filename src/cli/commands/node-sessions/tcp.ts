import type { Socket } from 'node:net'
import { relay } from '../../agent/sessions/relay.ts'
import { defineCommand, type Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { usageError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { Session } from '../../session/session.ts'
import { assertReachable, openThrough } from './far-connection.ts'
import type { FarDoor } from './far-door.ts'
import { findFarNode } from './far-node.ts'
import { issueSession, SESSION_FLAGS, type IssuedSession } from './issued-session.ts'
import { listenLocally } from './local-listener.ts'
import { isEnded, refusalOf } from './refusals.ts'
import { relayStdio } from './stdio.ts'
import { tcpWish, type LocalAddress } from './tcp-target.ts'

const FLAGS = {
  local: {
    kind: 'text',
    value: '[ADDRESS:]PORT',
    describe: 'Where to listen on this machine; 0 is any free port',
    fallback: 'the port of the node, or a free one below 1024',
  },
  target: {
    kind: 'text',
    value: 'HOST:PORT',
    describe: 'Reach another host through the node, which its agent has to allow',
  },
  stdio: { kind: 'switch', describe: 'Pass stdin and stdout through one connection instead of listening' },
  ttl: { kind: 'duration', describe: 'Lifetime of the session, at most 12h', fallback: '1h' },
  ...SESSION_FLAGS,
} as const satisfies FlagSpecs

export const tcp = defineCommand({
  description: [
    'Issues a mediated session, listens on this machine, and passes each connection through the node. Both this machine and the node have to be in the mesh, and a policy has to let this one reach TCP 7444 there. The session is audited, and is revoked when the command ends.',
    'Exits 130 after Ctrl-C, 8 where the node cannot be reached, and 6 when the session ends first.',
  ].join('\n'),
  args: [{ name: 'node:port', describe: 'Node, and the port on its 127.0.0.1', required: true, noun: 'nodes' }],
  flags: FLAGS,
  uses: ['connection'],
  examples: [
    'ctl tcp db-1:5432 --local 15432',
    'ctl tcp web-1 --target 10.20.0.7:443 --local 8443',
    'ctl tcp --stdio db-1:5432',
  ],
  run: (session, given) => tcpThrough(session, given),
})

async function tcpThrough(session: Session, { args, flags }: Given<typeof FLAGS>): Promise<ExitCode> {
  const [word = ''] = args
  if (flags.stdio === true && flags.local !== undefined) throw usageError('--stdio and --local exclude each other')
  const wish = tcpWish(word, flags)
  const node = await findFarNode(session, { reference: wish.reference })
  const door = { name: node.name, address: node.meshAddress, target: wish.target }
  await assertReachable(door)
  const issue = (): Promise<IssuedSession> =>
    issueSession(session, {
      node,
      kind: 'tcp',
      target: wish.target,
      ttlSeconds: flags.ttl,
      idleSeconds: flags['idle-timeout'],
    })
  return flags.stdio === true ? once(session, door, issue) : listen(session, door, { issue, local: wish.local })
}

async function once(session: Session, door: FarDoor, issue: () => Promise<IssuedSession>): Promise<ExitCode> {
  const { interrupted } = session.io
  const streams = session.io.bytes?.()
  if (streams === undefined) throw usageError('--stdio needs the standard streams of a process')
  const issued = await issue()
  try {
    await relayStdio(await openThrough(door, issued.token, interrupted), streams)
  } catch (error) {
    if (!interrupted.aborted) throw error
  } finally {
    await issued.revoke()
  }
  return interrupted.aborted ? EXIT.interrupted : EXIT.ok
}

interface Listening {
  readonly issue: () => Promise<IssuedSession>
  readonly local: LocalAddress
}

async function listen(session: Session, door: FarDoor, { issue, local }: Listening): Promise<ExitCode> {
  const ending = new AbortController()
  let issuing: Promise<IssuedSession> | undefined
  const listener = await listenLocally(local, (socket) => {
    // A connection that comes early waits for the session.
    void issuing?.then(
      ({ token }) => forward(session, door, { socket, token, ending }),
      () => socket.destroy(),
    )
  })
  try {
    issuing = issue()
    const issued = await issuing
    session.note(
      `${door.target} on ${door.name} is at ${listener.at} until ${new Date(issued.expiresAtMs).toISOString()}, as session ${issued.id}. Ctrl-C revokes it.`,
    )
    try {
      await untilEnded(session, issued, ending.signal)
    } finally {
      await issued.revoke()
    }
  } finally {
    listener.close()
  }
  if (session.io.interrupted.aborted) return EXIT.interrupted
  throw refusalOf('refused expired', door)
}

interface Forwarding {
  readonly socket: Socket
  readonly token: string
  /** Aborted when the session has ended. */
  readonly ending: AbortController
}

async function forward(session: Session, door: FarDoor, { socket, token, ending }: Forwarding): Promise<void> {
  try {
    const far = await openThrough(door, token)
    if (socket.destroyed) far.destroy()
    else await relay(socket, far).closed
  } catch (error) {
    socket.resetAndDestroy()
    if (isEnded(error)) ending.abort()
    else session.warn(error instanceof Error ? error.message : String(error))
  }
}

/** Waits for Ctrl-C, the end of the session by the clock, or what the node says of it. */
function untilEnded({ io }: Session, { expiresAtMs }: IssuedSession, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(settle, Math.max(0, expiresAtMs - io.nowMs()))
    for (const signal of [io.interrupted, ended]) {
      if (signal.aborted) settle()
      signal.addEventListener('abort', settle, { once: true })
    }
  })
}
