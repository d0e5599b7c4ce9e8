import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { FarNode } from './far-node.ts'
import { KNOWN_HOSTS_COMMAND, PROXY_COMMAND } from './ssh-environment.ts'

/** `[USER@]NODE` in its parts. */
export interface SshDestination {
  readonly user: string | undefined
  readonly reference: string
}

/** Reads `[USER@]NODE`. @throws CliError where a part is empty. */
export function sshDestination(word: string): SshDestination {
  const at = word.lastIndexOf('@')
  const [user, reference] = at === -1 ? [undefined, word] : [word.slice(0, at), word.slice(at + 1)]
  if (user !== '' && reference !== '') return { user, reference }
  throw usageError(`${word} is not [USER@]NODE`, 'Write it as web-1 or deploy@web-1')
}

/** What the arguments of ssh are made from. */
export interface SshWish {
  readonly node: FarNode
  readonly user: string | undefined
  /** Arguments and command that the person gave. */
  readonly rest: readonly string[]
  /** Trust the first host key where the agent has reported none. */
  readonly acceptsNewHostKey: boolean
}

/** Of several values for an option, ssh takes the first: the person's own configuration and arguments change none of these. */
const ALWAYS = [
  `ProxyCommand=${PROXY_COMMAND}`,
  // A connection that another command left open could lead to another machine.
  'ControlMaster=no',
  'ControlPath=none',
  'ControlPersist=no',
]

const REPORTED_KEY = [
  'StrictHostKeyChecking=yes',
  `KnownHostsCommand=${KNOWN_HOSTS_COMMAND}`,
  'UserKnownHostsFile=/dev/null',
  'GlobalKnownHostsFile=/dev/null',
  'VerifyHostKeyDNS=no',
  'UpdateHostKeys=no',
  // The form of the reported fingerprint.
  'FingerprintHash=sha256',
]

/** A host key that ssh remembers under the id of the node. */
const FIRST_KEY = ['StrictHostKeyChecking=accept-new', 'VerifyHostKeyDNS=no']

/** The arguments of ssh. @throws CliError where the host key is not known and a first one is not to be accepted. */
export function sshArguments({ node, user, rest, acceptsNewHostKey }: SshWish): readonly string[] {
  if (node.hostKey === undefined && !acceptsNewHostKey) throw hostKeyUnknown(node)
  const options = [...ALWAYS, ...(node.hostKey === undefined ? FIRST_KEY : REPORTED_KEY), `HostKeyAlias=${node.id}`]
  const login = user === undefined ? [] : ['-l', user]
  return [...options.flatMap((option) => ['-o', option]), ...login, hostOf(node), ...rest]
}

const NAME = /^[a-z0-9][a-z0-9-]*$/

/** For messages and for the person's own configuration. A name that ssh could take for an option is left out. */
function hostOf({ name, id }: FarNode): string {
  return NAME.test(name) ? name : id
}

function hostKeyUnknown({ name }: FarNode): CliError {
  return new CliError(`the SSH host key of ${name} is not known, since its agent has reported none`, {
    exitCode: EXIT.negative,
    code: 'host_key_unknown',
    hints: [
      `The agent reports /etc/ssh/ssh_host_ed25519_key.pub when it starts: install a server there and restart it (ctl agent down, ctl agent up).`,
      'To trust the key that answers first, and only that one later: --accept-new-host-key',
    ],
  })
}
