import type { FarNode } from './far-node.ts'
import type { IssuedSession } from './issued-session.ts'

/** Variables by which ssh hands what it was given to the two commands that it runs. A token in an argument would be seen by all users. */
const [NODE, MAIN] = ['CTL_SSH_NODE_PATH', 'CTL_SSH_MAIN_PATH']
const [TOKEN, ADDRESS, NAME, TARGET, HOST_KEY] = [
  'CTL_SSH_SESSION_TOKEN',
  'CTL_SSH_ADDRESS',
  'CTL_SSH_NAME',
  'CTL_SSH_TARGET',
  'CTL_SSH_HOST_KEY',
]

/** Words of the commands that ssh runs. */
export const PROXY_WORDS = '__ssh-proxy'
export const HOST_KEY_WORDS = '__ssh-host-key'

/** A shell runs it: the paths may have any character. */
export const PROXY_COMMAND = `"$${NODE}" "$${MAIN}" ${PROXY_WORDS}`
/**
 * ssh itself runs it, and replaces variables and tokens in the arguments, but not in the path of the program (ssh_config(5),
 * KnownHostsCommand; OpenSSH 8.5 and newer).
 */
export const KNOWN_HOSTS_COMMAND = `/usr/bin/env \${${NODE}} \${${MAIN}} ${HOST_KEY_WORDS} %f %t %K %H`

/** What the two commands need. */
export interface SshEnvironment {
  readonly token: string
  readonly address: string
  readonly name: string
  readonly target: string
  /** Empty: none is known. */
  readonly hostKey: string
}

/** The variables for ssh. */
export function sshVariables(node: FarNode, { token, target }: IssuedSession): Readonly<Record<string, string>> {
  return {
    [NODE]: process.execPath,
    [MAIN]: process.argv[1] ?? '',
    [TOKEN]: token,
    [ADDRESS]: node.meshAddress,
    [NAME]: node.name,
    [TARGET]: target,
    [HOST_KEY]: node.hostKey ?? '',
  }
}

/** Reads them; undefined where ssh did not start the command. */
export function readSshVariables(env: Readonly<Record<string, string | undefined>>): SshEnvironment | undefined {
  const { [TOKEN]: token, [ADDRESS]: address, [NAME]: name, [TARGET]: target, [HOST_KEY]: hostKey } = env
  if (token === undefined || address === undefined || name === undefined) return undefined
  return { token, address, name, target: target ?? '', hostKey: hostKey ?? '' }
}
