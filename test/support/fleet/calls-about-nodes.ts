import { contract } from '../../../src/shared/contract/index.ts'
import type { Operation } from '../../../src/shared/contract/operation.ts'
import { arrangeOwn, OWN_KEY_OPERATIONS } from '../../conformance/own-keys.ts'
import type { ValidCall } from '../../conformance/scenario.ts'
import { scenarios } from '../../conformance/scenarios/all.ts'
import { placedIn, type Placed } from '../../conformance/placed.ts'
import { exchange, layOut, signed, type WireRequest } from '../../conformance/wire.ts'
import { worldOf } from '../authz/own-calls.ts'
import { freshPublicKey, type Fleet } from './fleet.ts'

/** A stream ends by itself within a keep-alive; the contract and releases are about no node. */
const OTHERS: ReadonlySet<string> = new Set([
  'GetNodeEvents',
  'GetOpenapi',
  'GetPlexdArtifact',
  'GetPlexdArtifactSignature',
])
/** Calls about a node that are not under its path. */
const ELSEWHERE: ReadonlySet<string> = new Set(['RegisterNode', 'CreateMediatedSession'])

/** Operations that nodes call, and those by which people change something of one node, but for its deregistration. */
export const CALLS_ABOUT_NODES: readonly Placed[] = [
  ...OWN_KEY_OPERATIONS.filter(({ id }) => !OTHERS.has(id)),
  ...placedIn(contract).filter(
    ({ id, operation }) => ELSEWHERE.has(id) || (id !== 'DeleteNode' && isOperators(operation)),
  ),
]

/** Whether people change something of one node by it. */
function isOperators({ path, method, credentials }: Operation): boolean {
  return path.startsWith('/v1/nodes/{id}') && method !== 'GET' && !credentials.includes('nsk')
}

/** A call by a node, or about one. */
export interface Called {
  readonly placed: Placed
  readonly nodeId: string
  /** The key of a node that makes the call itself. */
  readonly nsk: string | undefined
  /** Resolves with `done`, or with the code of the problem. */
  send(): Promise<string>
}

export interface CallsAboutNodes {
  /** A call that is about a node of its own. */
  arrange(placed: Placed): Promise<Called>
  /** The correlation id of the calls that were arranged last. */
  correlation(): string
}

/** Arranges calls in one place of a fleet. */
export function callsAboutNodes(
  fleet: Fleet,
  place: { readonly domainId: string; readonly projectId: string },
): CallsAboutNodes {
  let sent = 0
  const correlation = (): string => `in-call.${sent}`

  async function answerTo(wire: WireRequest, as: string): Promise<string> {
    const { status, json } = await exchange(fleet.url, signed(wire, as, correlation()))
    return status < 300 ? 'done' : String(json?.['code'])
  }

  function arrangeOperators(placed: Placed, call: ValidCall<object> | undefined): Called {
    if (call === undefined) throw new Error(`${placed.id} has no scenario`)
    const { id, body } = call.input as { readonly id?: string; readonly body?: { readonly node_id?: string } }
    const nodeId = id ?? body?.node_id ?? ''
    const send = () => answerTo(layOut(placed.operation, { ...call.input }), fleet.root)
    return { placed, nodeId, nsk: undefined, send }
  }

  /** A node that joins once more. */
  async function arrangeReturn(placed: Placed): Promise<Called> {
    const { node_id: nodeId } = await fleet.enrol(place.domainId)
    const { token } = await fleet.token(place.domainId, { node_id: nodeId })
    const wire = layOut(placed.operation, { body: { name: 'again', kind: 'vm', public_key: freshPublicKey() } })
    return { placed, nodeId, nsk: undefined, send: () => answerTo(wire, token) }
  }

  return {
    correlation,
    async arrange(placed) {
      // The scenarios send the time of this machine.
      fleet.clock.nowMs = Date.now()
      sent += 1
      if (placed.id === 'RegisterNode') return arrangeReturn(placed)
      const world = worldOf(fleet, place)
      if (!placed.operation.credentials.includes('nsk'))
        return arrangeOperators(placed, await scenarios[placed.id]?.(world))
      const call = await arrangeOwn(placed, world)
      return { placed, nodeId: call.nodeId, nsk: call.nsk, send: () => answerTo(call.wire(), call.nsk) }
    },
  }
}
