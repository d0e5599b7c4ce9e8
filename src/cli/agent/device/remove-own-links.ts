import { doEach } from '../process/do-each.ts'
import { ownLinks, type OwnLink } from '../system/own-links.ts'
import type { RunProgram } from '../system/run-program.ts'
import { createLink } from './network-link.ts'
import { removeDevice } from './open-device.ts'

/**
 * Removes every interface that has the alias of the node, as an earlier process left them: those of its bridges, too.
 *
 * @throws CliError with the first that cannot be removed. The others are.
 */
export async function removeOwnLinks(run: RunProgram, owner: string): Promise<void> {
  await doEach((await ownLinks(run, owner)).map((link) => () => removeOwnLink(run, link, owner)))
}

async function removeOwnLink(run: RunProgram, { name, kind }: OwnLink, owner: string): Promise<void> {
  if (kind === 'tun' || kind === 'wireguard') await removeDevice({ name, owner })
  else await createLink(name, run).remove()
}
