import { chmod } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ProgramSign } from '../../system/background-program.ts'
import type { CaddyPlace } from './caddy-config.ts'
import { makeFolder } from '../../../files/make-folder.ts'

/** The files of ingress. */
export interface IngressPlace extends CaddyPlace {
  /** Everything but the certificates. It is gone after a restart of the machine. */
  readonly folder: string
  readonly haproxyConfig: string
  readonly masterSocket: string
  readonly haproxyLog: string
  readonly caddyConfig: string
  readonly caddyLog: string
}

const RUN = '/run/ctl-ingress'

/** The files of the node's ingress. The state folder keeps the certificates, because authorities give only so many a week. */
export function ingressPlace(nodeId: string, stateDirectory: string, run: string = RUN): IngressPlace {
  const folder = join(run, nodeId)
  const own = (name: string): string => join(folder, 'private', name)
  return {
    folder,
    haproxyConfig: own('haproxy.cfg'),
    masterSocket: own('haproxy.sock'),
    haproxyLog: own('haproxy.log'),
    caddyConfig: own('caddy.json'),
    caddyLog: own('caddy.log'),
    adminSocket: own('caddy.sock'),
    tlsSocket: join(folder, 'tls', 'caddy.sock'),
    certificates: join(stateDirectory, 'ingress'),
  }
}

/** How HAProxy of this ingress is found. */
export function haproxySign({ haproxyConfig: file }: Pick<IngressPlace, 'haproxyConfig'>): ProgramSign {
  return { marks: { CTL_INGRESS: file }, recordFile: `${file}.pid` }
}

/** How Caddy of this ingress is found. */
export function caddySign({ caddyConfig: file }: Pick<IngressPlace, 'caddyConfig'>): ProgramSign {
  return { marks: { CTL_INGRESS: file }, recordFile: `${file}.pid` }
}

/** Makes the folders. Only the one with the socket that ends TLS is open to the user of HAProxy. */
export async function makeFolders({ folder, certificates }: IngressPlace): Promise<void> {
  for (const open of [dirname(folder), folder, join(folder, 'tls')]) {
    makeFolder(open)
    // The umask of the agent takes rights away.
    await chmod(open, 0o711)
  }
  makeFolder(join(folder, 'private'), 0o700)
  makeFolder(certificates, 0o700)
}
