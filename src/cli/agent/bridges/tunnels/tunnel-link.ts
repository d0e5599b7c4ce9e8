import { createLink, type Link } from '../../device/network-link.ts'
import { firstLine } from '../../system/first-line.ts'
import { aliasOf } from '../../system/own-links.ts'
import type { RunProgram } from '../../system/run-program.ts'
import { tunnelFault } from './tunnel-fault.ts'

/** Interfaces that carry packets over the internet have room for the headers of the tunnel. */
const MTU = 1420

/** The interface of a tunnel. */
export interface TunnelLink {
  readonly run: RunProgram
  readonly name: string
  readonly owner: string
}

/** Opens the interface of a tunnel: one that the agent has left, or a new one that `add` makes and marks. @throws CliError where it belongs to another program. */
export async function openTunnelLink(place: TunnelLink, add: () => Promise<void>): Promise<Link> {
  const link = createLink(place.name, place.run)
  const found = await link.find()
  if (found !== undefined && found.alias !== aliasOf(place.owner)) {
    throw tunnelFault(`There is an interface ${place.name} that does not belong to this agent; it was not touched.`, {
      hint: `Remove it where it is not needed: ip link del ${place.name}`,
    })
  }
  if (found === undefined) await add()
  await link.setUp(MTU)
  return link
}

/** Removes the interface of a tunnel with its routes, where it is the agent's. */
export async function removeTunnelLink(place: TunnelLink): Promise<void> {
  const link = createLink(place.name, place.run)
  if ((await link.find())?.alias === aliasOf(place.owner)) await link.remove()
}

/** Adds a TUN interface that stays while no program has it open. */
export async function addTun(place: TunnelLink): Promise<void> {
  const { exitCode, stderr } = await place.run('ip', ['tuntap', 'add', 'dev', place.name, 'mode', 'tun'])
  if (exitCode !== 0) throw tunnelFault(`ip tuntap add failed: ${firstLine(stderr)}`)
  await markOwned(place)
}

/** Marks an interface that was just made as the agent's. */
export function markOwned(place: TunnelLink): Promise<void> {
  return createLink(place.name, place.run).setAlias(aliasOf(place.owner))
}

/** What is wrong with the interface of a tunnel that was opened. Its program and routes are not of use without it. */
export function linkFault({ run, name }: Pick<TunnelLink, 'run' | 'name'>): string | undefined {
  const isPresent = createLink(name, run).isPresent()
  return isPresent ? undefined : `Another program has removed the interface ${name}; stop the agent and start it again.`
}
