import { z } from 'zod'
import { firstLine } from '../../../system/first-line.ts'
import type { RunProgram } from '../../../system/run-program.ts'
import { tunnelFault } from '../tunnel-fault.ts'
import { markOwned, type TunnelLink } from '../tunnel-link.ts'
import { interfaceId } from './connection.ts'

/** Adds an XFRM interface, to which the kernel ties the policies of one tunnel. False: the kernel has none. */
export async function addXfrm(place: TunnelLink): Promise<boolean> {
  const { run, name } = place
  const args = ['link', 'add', 'dev', name, 'type', 'xfrm', 'if_id', String(interfaceId(name))]
  const { exitCode, stderr } = await run('ip', args)
  if (exitCode === 0) {
    await markOwned(place)
    return true
  }
  if (/unknown device type|not supported/i.test(stderr)) return false
  throw tunnelFault(`ip link add failed: ${firstLine(stderr)}`)
}

const Links = z.array(
  z.object({
    ifname: z.string(),
    ifalias: z.string().optional(),
    linkinfo: z.object({ info_kind: z.string().optional() }).optional(),
  }),
)

/** Renames and marks the TUN interface that charon has just made for ESP. charon names it `ipsec0`, or the next free number. */
export async function renameCharonTun(place: TunnelLink): Promise<void> {
  const { run, name } = place
  const links = Links.parse(JSON.parse(await ip(run, ['-j', '-d', 'link', 'show'])))
  const made = links.filter(
    ({ ifname, ifalias, linkinfo }) =>
      /^ipsec\d+$/.test(ifname) && ifalias === undefined && linkinfo?.info_kind === 'tun',
  )
  const [link] = made
  if (link === undefined || made.length > 1) throw missingUserspace()
  // An interface that is up cannot be renamed on older kernels.
  await ip(run, ['link', 'set', 'dev', link.ifname, 'down'])
  await ip(run, ['link', 'set', 'dev', link.ifname, 'name', name])
  await markOwned(place)
}

async function ip(run: RunProgram, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run('ip', args)
  if (exitCode !== 0) throw tunnelFault(`ip ${args.slice(0, 2).join(' ')} failed: ${firstLine(stderr)}`)
  return stdout
}

function missingUserspace(): Error {
  return tunnelFault(
    'The kernel of this machine has no XFRM interfaces (CONFIG_XFRM_INTERFACE), and strongSwan has no ESP of its own.',
    { hint: 'Install it: apt install libcharon-extra-plugins' },
  )
}
