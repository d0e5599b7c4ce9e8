import type { nodes } from '../../../shared/contract/nodes.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Keyring, Sealing } from '../../ports/keyring.ts'
import type { Signer } from '../../ports/signer.ts'
import type { UnitOfWork } from '../../ports/unit-of-work.ts'
import { createDeregistration } from './deregistration.ts'
import { createHeartbeatCommit } from './heartbeat-commit.ts'
import { createHeartbeats } from './heartbeats.ts'
import { createHeartbeatWriter, type OnBack } from './heartbeat-store.ts'
import { createKeyMint } from './mint-key.ts'
import { createPeerMarks } from './peer-marks.ts'
import { readMarks } from './peer-marks-store.ts'
import { createNodeHandlers } from './node-handlers.ts'
import { createReachabilityHistory } from './reachability-history.ts'
import { createRegistration } from './registration.ts'
import { createSecretKeys } from './secret-keys.ts'

export interface NodesDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly ids: IdSource
  readonly keyring: Keyring
  readonly sealing: Sealing
  readonly signer: Signer
  /** Names the installation in the keys that it mints. */
  readonly env: string
  /** Called with nodes that are healthy again and not announced yet. Default: the leader's sweeper finds them. */
  readonly onBack?: OnBack
  /** Called when the changes of Domains' peers could not be read. Default: ignored; they are read again soon. */
  readonly onMarksFailure?: (error: unknown) => void
}

export interface NodesService {
  readonly handlers: Handlers<typeof nodes>
  /** Begins to follow the changes of Domains' peers. Never rejects. */
  start(): Promise<void>
  /** Answers every pending heartbeat; later ones are refused with `shutting_down`. */
  drain(): Promise<void>
}

/** Of heartbeats. The embedded store has one session, where a second batch would only wait in its queue. */
const FLIGHTS = {
  embedded: { flightsMax: 1, batchMin: 512, batchMax: 512 },
  postgres: { flightsMax: 2, batchMin: 32, batchMax: 512 },
} as const

/** Serves the nodes: their enrolment, keys, heartbeats, and reading by people. */
export function createNodes(deps: NodesDeps): NodesService {
  const mintKey = createKeyMint(deps)
  const commit = createHeartbeatCommit({
    write: createHeartbeatWriter(deps.datastore, deps.onBack),
    ...FLIGHTS[deps.datastore.kind],
    gatherTurnsMax: 1,
    callersMax: 16_384,
    deadlineMs: 5_000,
  })
  const marks = createPeerMarks({
    read: () => readMarks(deps.datastore.pool('worker')),
    onFailure: deps.onMarksFailure ?? (() => undefined),
  })
  const handlers = {
    ...createRegistration({ ...deps, mintKey }),
    ...createNodeHandlers(deps),
    ...createReachabilityHistory(deps),
    ...createDeregistration(),
    ...createSecretKeys({ mintKey }),
    ...createHeartbeats({ commit, marks }),
  }
  return {
    handlers,
    start: () => marks.start(),
    drain() {
      marks.stop()
      return commit.drain()
    },
  }
}
