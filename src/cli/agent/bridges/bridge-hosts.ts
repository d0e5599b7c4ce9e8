import type { BridgeChange } from '../../../client/agent/agent-deps.ts'
import { reasonOf } from '../errors.ts'
import type { Forward } from '../firewall/firewall-view.ts'
import type { Log } from '../log.ts'
import { doEach } from '../process/do-each.ts'
import type { BridgePart } from './bridge-part.ts'
import {
  NOTHING_WANTED,
  readWantedParts,
  type WantedIngress,
  type WantedParts,
  type WantedRelay,
  type WantedTunnel,
  type WantedUserAccess,
} from './wanted-parts.ts'

/** The parts of bridges that this machine can run. */
export interface BridgeParts {
  readonly relay: BridgePart<WantedRelay>
  readonly ingress: BridgePart<readonly WantedIngress[]>
  readonly tunnels: BridgePart<readonly WantedTunnel[]>
  readonly userAccess: BridgePart<readonly WantedUserAccess[]>
}

/** The bridges that this machine hosts. */
export interface BridgeHosts {
  /** Resolves with undefined, or with why the configuration is not applied. */
  apply(change: BridgeChange): Promise<string | undefined>
  keepOnly(bridgeIds: ReadonlySet<string>): Promise<void>
  faults(): readonly string[]
  forwards(): readonly Forward[]
  close(mode: 'keep' | 'remove'): Promise<void>
}

/** What the bridges need. */
export interface BridgeHostsDeps {
  readonly parts: BridgeParts
  readonly log: Log
  /** The applier takes what is forwarded now. */
  readonly forwardsChanged: () => void
}

/** Makes the bridges of a machine that hosts none yet. One change is applied after another. */
export function createBridgeHosts({ parts, log, forwardsChanged }: BridgeHostsDeps): BridgeHosts {
  const all: readonly Omit<BridgePart<never>, 'apply'>[] = Object.values(parts)
  const known = new Map<string, string | undefined>()
  let last: Promise<unknown> = Promise.resolve()
  /** Then nothing begins any more: a secret may arrive after everything was removed. */
  let isClosing = false

  function serially<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work, work)
    last = result.catch(() => undefined)
    return result
  }

  async function applyParts(bridgeId: string, wanted: WantedParts): Promise<string | undefined> {
    const faults = await Promise.all([
      tried('relay', parts.relay.apply(bridgeId, wanted.relay)),
      tried('ingress', parts.ingress.apply(bridgeId, wanted.ingress)),
      tried('tunnels', parts.tunnels.apply(bridgeId, wanted.tunnels)),
      tried('user access', parts.userAccess.apply(bridgeId, wanted.userAccess)),
    ])
    forwardsChanged()
    const present = faults.filter((fault) => fault !== undefined)
    return present.length === 0 ? undefined : present.join('; ')
  }

  function note(bridgeId: string, fault: string | undefined): void {
    if (fault !== undefined && known.get(bridgeId) !== fault) log.line(`bridge ${bridgeId}: ${fault}`)
    known.set(bridgeId, fault)
  }

  return {
    apply: ({ resourceId, bridge, secrets }) =>
      serially(async () => {
        if (isClosing) return ENDS
        const wanted = bridge === undefined ? NOTHING_WANTED : readWantedParts(bridge.config, secrets)
        const fault = wanted === undefined ? UNKNOWN_FORM : await applyParts(resourceId, wanted)
        note(resourceId, fault)
        if (bridge === undefined && fault === undefined) known.delete(resourceId)
        return fault
      }),
    keepOnly: (bridgeIds) =>
      serially(async () => {
        if (isClosing) return
        for (const id of known.keys()) if (!bridgeIds.has(id)) known.delete(id)
        // The next pull tries it again.
        await doEach(all.map((part) => () => part.keepOnly(bridgeIds))).catch((error: unknown) =>
          log.line(`bridges: ${reasonOf(error)}`),
        )
        forwardsChanged()
      }),
    faults: () => [
      ...[...known].flatMap(([id, fault]) => (fault === undefined ? [] : [`bridge ${id}: ${fault}`])),
      ...all.flatMap((part) => part.faults()),
    ],
    forwards: () => all.flatMap((part) => part.forwards()),
    close(mode) {
      isClosing = true
      return serially(() => doEach(all.map((part) => () => part.close(mode))))
    },
  }
}

const ENDS = 'the agent ends'
const UNKNOWN_FORM = 'the configuration has a form that this version of the agent does not understand; upgrade it'

async function tried(part: string, work: Promise<string | undefined>): Promise<string | undefined> {
  const fault = await work.catch(reasonOf)
  return fault && `${part}: ${fault}`
}
