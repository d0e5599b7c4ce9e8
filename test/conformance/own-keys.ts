import { contract } from '../../src/shared/contract/index.ts'
import { parseNsk } from '../../src/shared/credential-formats.ts'
import { scenarios } from './scenarios/all.ts'
import { placedIn, type Placed } from './placed.ts'
import { layOut, type WireRequest } from './wire.ts'
import type { World } from './world.ts'

/** Every operation that takes the secret key of a node, in the order of the contract. */
export const OWN_KEY_OPERATIONS: readonly Placed[] = placedIn(contract).filter(({ operation }) =>
  operation.credentials.includes('nsk'),
)

/** A valid call that a node makes with its own key. */
export interface OwnCall {
  readonly placed: Placed
  readonly input: Readonly<Record<string, unknown>>
  readonly nsk: string
  readonly nodeId: string
  /** The request, with another body where one is given. */
  wire(body?: unknown): WireRequest
}

/** Arranges one, as the scenario of the operation does; where that is not about a node, a new node calls. */
export async function arrangeOwn(placed: Placed, world: World): Promise<OwnCall> {
  const call = await scenarios[placed.id]?.(world)
  if (call === undefined) throw new Error(`${placed.id} has no scenario`)
  const found = [call.as, ...(call.also ?? []).map(({ as }) => as)].find((as) => as?.startsWith('nsk_'))
  const nsk = found ?? (await world.node()).nsk
  const nodeId = parseNsk(nsk)?.nodeId
  if (nodeId === undefined) throw new Error(`${placed.id} is called with what is no key`)
  const input: Readonly<Record<string, unknown>> = { ...call.input }
  return {
    placed,
    input,
    nsk,
    nodeId,
    wire: (body) => layOut(placed.operation, body === undefined ? input : { ...input, body }),
  }
}
