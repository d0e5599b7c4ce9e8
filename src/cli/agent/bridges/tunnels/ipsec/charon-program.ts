import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { ProgramSign } from '../../../system/background-program.ts'
import type { KeptProgram } from '../../../system/kept-process.ts'
import { plainPath } from '../plain-path.ts'
import { isCharon } from './vici.ts'

/** The socket of the charon that the machine runs: of the unit strongswan.service, or another one. */
export const SYSTEM_SOCKET = '/run/charon.vici'

/** Algorithms and sockets; none runs a script. A plugin whose package is not installed is left out by charon. */
const PLUGINS =
  'random drbg nonce openssl gcm aes sha1 sha2 hmac kdf gmp curve25519 x509 pubkey pkcs1 pkcs8 pem kernel-netlink socket-default vici'

const socketFile = (folder: string): string => join(folder, 'charon.vici')
const logFile = (folder: string): string => join(folder, 'charon.log')

/** The control socket of a charon that the agent starts. @throws CliError where no configuration can have its path */
export function ownSocket(folder: string): string {
  return plainPath(socketFile(folder))
}

/** The files of a charon that the agent starts. */
export function ownFiles(folder: string): readonly string[] {
  return [socketFile(folder), logFile(folder), charonSign(folder).recordFile]
}

/** How the charon that the agent with this state folder has started is found. */
export function charonSign(folder: string): ProgramSign {
  return { marks: { CTL_TUNNEL: join(folder, 'charon') }, recordFile: join(folder, 'charon.pid') }
}

/**
 * A charon of the agent's own, for a machine that runs none. It reads none of the machine's configuration, runs no script and sets
 * no route: its configuration has no secret and comes by its standard input.
 */
export function charonProgram(folder: string): Omit<KeptProgram, 'log' | 'onStarted'> {
  const { marks: family, recordFile } = charonSign(folder)
  const socket = ownSocket(folder)
  const stdin = `charon-systemd {
  load_modular = no
  load = ${PLUGINS}
  install_routes = no
  install_virtual_ip = no
  journal {
    default = -1
  }
  syslog {
    daemon {
      default = -1
    }
  }
  filelog {
    stderr {
      default = 1
      enc = 0
      asn = 0
    }
  }
  plugins {
    vici {
      socket = unix://${socket}
    }
  }
}
`
  return {
    program: 'charon-systemd',
    args: [],
    family,
    recordFile,
    marks: { ...family, CTL_TUNNEL_CONFIG: createHash('sha256').update(stdin).digest('hex') },
    environment: { STRONGSWAN_CONF: '/dev/stdin' },
    stdin,
    logFile: logFile(folder),
    isReady: () => isCharon(socket),
  }
}
