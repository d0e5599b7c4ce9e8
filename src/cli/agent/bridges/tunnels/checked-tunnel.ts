import { readSubnet } from '../../../../shared/bridges/subnet.ts'
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

/** The networks behind the other end, in canonical form. @throws CliError where one is anything else. */
export function checkedSubnets({ allowed_subnets: subnets }: Tunnel): readonly string[] {
  return subnets.map(checkedSubnet)
}

/** One network in canonical form. @throws CliError where it is anything else. */
export function checkedSubnet(text: string): string {
  const read = readSubnet(text)
  if (!read.ok) throw tunnelFault(`The subnet ${JSON.stringify(text)} ${read.rule}.`)
  return read.text
}
