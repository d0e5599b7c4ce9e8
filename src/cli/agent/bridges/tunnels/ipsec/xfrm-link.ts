import { firstLine } from '../../../system/first-line.ts'
import { tunnelFault } from '../tunnel-fault.ts'
import { markOwned, type TunnelLink } from '../tunnel-link.ts'
import { interfaceId } from './connection.ts'

/** Adds an XFRM interface, to which the kernel ties the policies of one tunnel. @throws CliError where the kernel has none. */
export async function addXfrm(place: TunnelLink): Promise<void> {
  const { run, name } = place
  const args = ['link', 'add', 'dev', name, 'type', 'xfrm', 'if_id', String(interfaceId(name))]
  const { exitCode, stderr } = await run('ip', args)
  if (exitCode === 0) return markOwned(place)
  if (/unknown device type|not supported/i.test(stderr)) throw missingKernelPart()
  throw tunnelFault(`ip link add failed: ${firstLine(stderr)}`)
}

function missingKernelPart(): Error {
  return tunnelFault(
    'The kernel of this machine has no XFRM interfaces (CONFIG_XFRM_INTERFACE), which IPsec tunnels need.',
    {
      hint: 'Load the kernel module: modprobe xfrm_interface. Or host the tunnel on a machine that has it.',
    },
  )
}
