import { isRemoteHost } from '../../../../shared/bridges/remote-host.ts'
import { tunnelFault } from './tunnel-fault.ts'
import type { Tunnel } from './tunnel-driver.ts'

const PORT_MAX = 65_535

/** The other end of a tunnel, as another program may read it. @throws CliError where it is anything but a host and a port. */
export function checkedRemote({ remote_host: host, remote_port: port }: Tunnel): {
  readonly host: string
  readonly port: number
} {
  if (!isRemoteHost(host)) throw tunnelFault('The other end is neither an IP address nor a host name.')
  if (!Number.isInteger(port) || port < 1 || port > PORT_MAX)
    throw tunnelFault('The port of the other end is not 1 to 65535.')
  return { host, port }
}
