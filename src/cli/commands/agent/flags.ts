import type { FlagSpecs, FlagValues } from '../../argv/flags.ts'
import { CA_SHA256_FLAG } from '../../session/authority-flag.ts'
import { NAME_WAYS } from '../../agent/state/agent-state.ts'
import { DEFAULT_STATE_DIR } from '../../agent/place.ts'

/** Where the agent keeps its files. */
export const STATE_DIR_FLAG = {
  'state-dir': {
    kind: 'text',
    value: 'DIR',
    describe: 'Folder of its state, socket and log',
    fallback: DEFAULT_STATE_DIR,
  },
} as const satisfies FlagSpecs

/** How the node is enrolled, and how the agent sets the machine up. */
export const UP_FLAGS = {
  server: { kind: 'text', value: 'URL', describe: 'Server to enrol with' },
  'join-token-file': {
    kind: 'text',
    value: 'FILE',
    isSecret: true,
    describe: 'Read the join token from a file, or from stdin with -',
  },
  name: { kind: 'text', value: 'NAME', describe: 'Name of the node', fallback: 'the host name' },
  ...STATE_DIR_FLAG,
  interface: { kind: 'text', value: 'NAME', describe: 'Name of the WireGuard interface', fallback: 'ctl0' },
  'listen-port': { kind: 'integer', value: 'PORT', describe: 'UDP port of WireGuard', fallback: '51820' },
  mtu: { kind: 'integer', value: 'BYTES', describe: 'MTU of the interface', fallback: '1420' },
  names: {
    kind: 'text',
    value: 'WAY',
    choices: NAME_WAYS,
    describe: 'How programs find the names of the mesh: by the resolver of this machine, by /etc/hosts, or not at all',
    fallback: 'auto',
  },
  hosts: { kind: 'switch', describe: 'Short for --names hosts' },
  'no-names': { kind: 'switch', describe: 'Short for --names none' },
  'allow-session-targets': {
    kind: 'list',
    value: 'CIDR,…',
    describe: 'Networks that mediated sessions may reach through this node, or none',
    fallback: '127.0.0.1 alone',
  },
  'ingress-listen': {
    kind: 'text',
    value: 'ADDRESS:PORT',
    describe: 'Where this node accepts connections for ingress rules of its bridges',
    fallback: ':443',
  },
  userspace: { kind: 'switch', describe: 'Use wireguard-go even where the kernel has WireGuard' },
  // The variable is for commands of operators.
  'ca-sha256': {
    kind: CA_SHA256_FLAG.kind,
    value: CA_SHA256_FLAG.value,
    describe: CA_SHA256_FLAG.describe,
  },
  'ca-file': { kind: 'text', value: 'FILE', describe: 'Trust this certificate authority as well' },
  'insecure-http': { kind: 'switch', describe: 'Allow plain HTTP to another machine, as for a test' },
} as const satisfies FlagSpecs

export type UpFlags = FlagValues<typeof UP_FLAGS>
