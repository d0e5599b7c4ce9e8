import { tunnelFault } from './tunnel-fault.ts'

const PLAIN = /^\/[\w./-]+$/
/** A name of a socket has 108 bytes, with the zero at its end. */
const SOCKET_PATH_MAX = 107

/** A path as it can be written into the configuration of another program. @throws CliError where it cannot. */
export function plainPath(path: string): string {
  if (PLAIN.test(path) && path.length <= SOCKET_PATH_MAX) return path
  throw tunnelFault(
    `Tunnels need a state folder whose path has only letters, digits, ".", "_" and "-", and is short: ${path} is not.`,
    { hint: 'Choose another one with --state-dir.' },
  )
}
