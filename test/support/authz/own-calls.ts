import { contract } from '../../../src/shared/contract/index.ts'
import type { Operation } from '../../../src/shared/contract/operation.ts'
import { exchange, layOut, signed } from '../../conformance/wire.ts'
import type { Made, World } from '../../conformance/world.ts'
import type { Fleet } from '../fleet/fleet.ts'

/** What nodes call beside the surface `nodes`, but for their streams. */
export const OWN_SURFACES = [
  'meshKeys',
  'nodeObservations',
  'nodeState',
  'nodeSecrets',
  'executions',
  'mediatedSessions',
  // What a node needs secrets for.
  'secrets',
  'bridge',
] as const

const OPERATIONS = new Map<string, Operation>(
  Object.values(contract).flatMap(({ operations }) => Object.entries<Operation>(operations)),
)

type Place = Pick<World, 'domainId' | 'projectId'>

/** A world, as far as the scenarios of what nodes call look at one, in a Domain of a fleet. */
export function worldOf(fleet: Fleet, { domainId, projectId }: Place): World {
  async function makeAs(as: string, id: string, input: Readonly<Record<string, unknown>>): Promise<Made> {
    const operation = OPERATIONS.get(id)
    if (operation === undefined) throw new Error(`there is no operation ${id}`)
    const { status, json, text } = await exchange(fleet.url, signed(layOut(operation, input), as))
    if (status >= 300) throw new Error(`${id} answered ${status} ${text}`)
    // Arrangements take what an operation answers at its word.
    return json as unknown as Made
  }
  const seen = {
    url: fleet.url,
    root: fleet.root,
    nobody: fleet.root,
    domainId,
    projectId,
    name: () => `x${fleet.ids.next()}`,
    make: (id: string, input: Readonly<Record<string, unknown>>) => makeAs(fleet.root, id, input),
    makeAs,
    async node() {
      const { node_id, nsk } = await fleet.enrol(domainId)
      return { id: node_id, nsk }
    },
  }
  // The rest of a world is what people sign in with, which no node does.
  return seen as unknown as World
}
