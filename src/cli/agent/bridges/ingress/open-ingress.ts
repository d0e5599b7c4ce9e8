import type { AgentCore } from '../../agent-core.ts'
import { createIngressPart, type IngressPart } from './ingress-part.ts'
import { ingressPlace } from './ingress-place.ts'
import { DEFAULT_LISTEN, readListenAddress } from './listen-address.ts'

/** What ingress knows of the mesh. */
export interface IngressPorts {
  /** The mesh address of this node. */
  readonly ownAddress: () => string
  /** That of any node; undefined where it is neither this one nor a peer that was taken. */
  readonly addressOf: (nodeId: string) => string | undefined
  /** Resolves once the peers of the last pull were taken or refused. */
  readonly peersSettled: () => Promise<void>
}

/** Makes the ingress of this machine. */
export function openIngress(core: AgentCore, { ownAddress, addressOf, peersSettled }: IngressPorts): IngressPart {
  const { state, place, run, log, clock, tasks, ending } = core
  const listen = readListenAddress(state.machine.ingress_listen ?? DEFAULT_LISTEN)
  if (listen === undefined) throw new Error(`${state.machine.ingress_listen} is no address and port`)
  return createIngressPart({
    ownAddress,
    addressOf,
    peersSettled,
    place: ingressPlace(state.enrolment.node_id, place.directory),
    listen,
    environment: trustOf(process.env),
    run,
    log,
    clock,
    tasks,
    until: ending.signal,
  })
}

/** The variables by which Go programs trust certificate authorities beside those of the system. */
function trustOf(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const named = ['SSL_CERT_FILE', 'SSL_CERT_DIR'].flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(named)
}
