import { readFileSync } from 'node:fs'
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

/** An address of this machine. */
export interface OwnAddress {
  readonly address: string
  readonly interfaceName: string
  /** Of the interface: that of an agent is `ctl <node id>`. */
  readonly alias: string
}

/** What is known of this machine's addresses; tests bring their own. */
export type OwnAddresses = () => readonly OwnAddress[]

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

/** Other networks have addresses of the same range: 100.64.0.0/10 is that of Tailscale, too. */
const MESH_INTERFACE = /^ctl/

/** Whether one of the addresses is that of an agent's interface, in the mesh. */
export function isInMesh(meshCidr: string, own: readonly OwnAddress[]): boolean {
  const read = parseCidr(meshCidr)
  return own.some(({ address, interfaceName, alias }) => {
    const words = parseAddress(address)
    const isOfMesh = MESH_INTERFACE.test(interfaceName) || alias.startsWith('ctl ')
    return isOfMesh && read.ok && words !== undefined && containsAddress(read.cidr, words)
  })
}

function assertInMesh(meshCidr: string, own: readonly OwnAddress[]): void {
  if (isInMesh(meshCidr, own)) return
  throw new CliError(`this machine is not in the mesh: no interface of an agent has an address in ${meshCidr}`, {
    exitCode: EXIT.unavailable,
    code: 'not_in_mesh',
    hints: ['Start its agent with "ctl agent up", or run the command on a node of the mesh.'],
  })
}

function ownAddresses(): readonly OwnAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([interfaceName, addresses = []]) => {
    const alias = aliasOf(interfaceName)
    return addresses.map(({ address }) => ({ address, interfaceName, alias }))
  })
}

/** Empty where there is none, or where the system has no such file. */
function aliasOf(interfaceName: string): string {
  try {
    return readFileSync(`/sys/class/net/${interfaceName}/ifalias`, 'utf8')
  } catch {
    return ''
  }
}
