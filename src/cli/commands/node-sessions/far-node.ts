import { networkInterfaces } from 'node:os'
import { containsAddress, parseAddress, parseCidr } from '../../../shared/networks/cidr.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { createResolver } from '../../session/references.ts'
import type { ApiClient, Session } from '../../session/session.ts'

/** The node that a session goes through. */
export interface FarNode {
  readonly id: string
  readonly name: string
  readonly domainId: string
  /** Null where it is in no Project. */
  readonly projectId: string | null
  readonly meshAddress: string
  /** As its agent reported it: `SHA256:…`; undefined where it has not. */
  readonly hostKey: string | undefined
}

/** What is known of this machine's addresses; tests bring their own. */
export type OwnAddresses = () => readonly string[]

/**
 * Looks the node up by name, id or a piece of an id.
 *
 * @throws CliError where it is not found, or where this machine is not in its mesh: a token must not be shown to a stranger who
 * has that address elsewhere.
 */
export async function findFarNode(
  session: Session,
  { reference, own = ownAddresses }: { readonly reference: string; readonly own?: OwnAddresses },
): Promise<FarNode> {
  const { id } = await createResolver(session).object('nodes', reference, {})
  const client: ApiClient = await session.client()
  const node = await client.GetNode({ id })
  assertInMesh(node.mesh_cidr, own())
  return {
    id,
    name: node.name,
    domainId: node.domain_id,
    projectId: node.project_id,
    meshAddress: node.mesh_address,
    hostKey: node.capabilities?.ssh_host_key_fingerprint ?? undefined,
  }
}

function assertInMesh(meshCidr: string, own: readonly string[]): void {
  const read = parseCidr(meshCidr)
  const isInside = (text: string): boolean => {
    const words = parseAddress(text)
    return read.ok && words !== undefined && containsAddress(read.cidr, words)
  }
  if (own.some(isInside)) return
  throw new CliError(`this machine is not in the mesh: none of its addresses is in ${meshCidr}`, {
    exitCode: EXIT.unavailable,
    code: 'not_in_mesh',
    hints: ['Start its agent with "ctl agent up", or run the command on a node of the mesh.'],
  })
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address))
}
