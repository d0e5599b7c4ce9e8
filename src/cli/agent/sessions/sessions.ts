import type { Socket } from 'node:net'
import type { FindKey, VerifySignature } from '../../../shared/events/verifier.ts'
import { reasonOf } from '../errors.ts'
import { createCoalescedWork } from '../process/coalesced-work.ts'
import { createAddressLookup, type AddressLookup } from './address-lookup.ts'
import { createAdmission } from './admit.ts'
import { createConnectionServer } from './serve-connection.ts'
import { REACH_MS_MAX } from './reach-target.ts'
import { createSessionListener } from './session-listener.ts'
import type { TargetRule } from './session-target.ts'
import { createSessionUses, type UsesDeps } from './session-uses.ts'

/** Lets people through this node whose mediated session is live. */
export interface Sessions {
  /** Listens on the mesh address that holds now, before long. */
  addressChanged(): void
  /** Cuts the sessions that are no longer live. */
  liveChanged(): void
  status(): SessionsStatus
}

/** How mediated sessions are, for `status`. */
export interface SessionsStatus {
  /** `address:port`; undefined where none is let in. */
  readonly listen: string | undefined
  /** Sessions in use, and their connections. */
  readonly open: number
  readonly connections: number
  readonly fault: string | undefined
}

/** What sessions need. */
export interface SessionsDeps extends UsesDeps {
  /** The mesh address of this node. */
  readonly address: () => string
  readonly findKey: FindKey
  readonly verify: VerifySignature
  readonly isAllowed: TargetRule
  /** The addresses of a name; those of this machine's resolver when absent. */
  readonly ask?: AddressLookup
}

const CONNECTIONS_MAX = 512

/** Makes the sessions of a node. They are let in from the first `addressChanged` until the agent ends, which cuts all of them. */
export function createSessions(deps: SessionsDeps): Sessions {
  const { agent, log, address } = deps
  const sockets = new Set<Socket>()
  const uses = createSessionUses(deps)
  const admit = createAdmission({ ...deps, isOver: (id) => uses.isOver(id) })
  const resolve = createAddressLookup(REACH_MS_MAX, deps.ask)
  const serve = createConnectionServer({ ...deps, admit, uses, resolve })
  const listener = createSessionListener({ connectionsMax: CONNECTIONS_MAX, onConnection: take })
  const work = createCoalescedWork({ ...agent, name: 'sessions', log, work: () => listener.listenOn(address()) })

  function take(socket: Socket): void {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // A fault of one connection ends that one, and no other.
    serve(socket).catch((error: unknown) => {
      log.line(`sessions: a connection failed: ${reasonOf(error)}`)
      socket.destroy()
    })
  }

  agent.until.addEventListener('abort', () => {
    listener.close()
    sockets.forEach((socket) => socket.resetAndDestroy())
    uses.close()
  })

  return {
    addressChanged: () => work.request(),
    liveChanged: () => uses.liveChanged(),
    status: () => ({
      listen: listener.listen(),
      open: uses.list().length,
      connections: uses.list().reduce((sum, use) => sum + use.connections(), 0),
      fault: work.fault(),
    }),
  }
}
