import { hostname, networkInterfaces } from 'node:os'
import type { Logger } from 'pino'
import { certificateNames } from '../adapters/own-authority/certificate-names.ts'
import { checkOwnAuthority, openOwnAuthority, type OwnAuthority } from '../adapters/own-authority/own-authority.ts'
import type { Config } from '../config/config.ts'
import type { Clock } from '../ports/clock.ts'
import { readTls, type TlsMaterial } from './tls-files.ts'

/** The server's own certificate authority, as clients need to know it. */
export interface AuthorityFacts {
  /** SHA-256 of its certificate (DER), 64 hex digits. */
  readonly sha256: string
  /** File of its certificate, PEM. */
  readonly path: string
}

/** The TLS certificate of a server, which can change while it serves. */
export interface ServedTls {
  current(): TlsMaterial
  /** Reads the files again, or renews the own certificate if that is due. @throws BootError; the former pair stays. */
  reload(): Promise<TlsMaterial>
  /** Passes on a certificate that was renewed because it was time. Returns what stops that. */
  follow(take: (material: TlsMaterial) => void): () => void
  /** Undefined: the certificate comes from files. */
  readonly authority: AuthorityFacts | undefined
}

type TlsSource = NonNullable<Config['tls']>

/** How often the names and the age of an own certificate are looked at. */
const RENEWAL_CHECK_MS = 3_600_000
/** An authority that ends within this time is worth a warning: every client needs the next one. */
const ENDING_MS = 180 * 86_400_000

/** Makes sure that what is there of the certificate is good; nothing is written. @throws BootError */
export function checkTls(source: TlsSource | undefined, clock: Clock): void {
  if (source?.kind === 'files') readTls(source)
  else if (source !== undefined) checkOwnAuthority(source.directory, clock.now())
}

export interface TlsGround {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  /** How often renewal is considered; an hour by default. */
  readonly renewalCheckMs?: number | undefined
}

/** Opens the certificate that the configuration asks for; undefined: plain HTTP. @throws BootError */
export async function openTls(ground: TlsGround): Promise<ServedTls | undefined> {
  const { tls: source } = ground.config
  if (source === undefined) return undefined
  if (source.kind === 'self-signed') return openSelfSigned(source.directory, ground)
  let material = readTls(source)
  return {
    current: () => material,
    async reload() {
      material = readTls(source)
      return material
    },
    follow: () => () => undefined,
    authority: undefined,
  }
}

async function openSelfSigned(
  directory: string,
  { config, clock, log, renewalCheckMs }: TlsGround,
): Promise<ServedTls> {
  const names = (): string[] => namesOf(config)
  const own = await openOwnAuthority({ directory, clock, names })
  warnOfEnd(own, clock, log)

  let isRenewing = false
  async function renewInTime(take: (material: TlsMaterial) => void): Promise<void> {
    if (isRenewing) return
    isRenewing = true
    try {
      if (!(await own.renew())) return
      take(own.current())
      log.info({ names: names() }, 'the TLS certificate was renewed')
      warnOfEnd(own, clock, log)
    } catch (error) {
      log.error({ err: error }, 'the TLS certificate could not be renewed; the former one stays')
    } finally {
      isRenewing = false
    }
  }

  return {
    current: () => own.current(),
    async reload() {
      await own.renew()
      return own.current()
    },
    follow(take) {
      const timer = setInterval(() => void renewInTime(take), renewalCheckMs ?? RENEWAL_CHECK_MS).unref()
      return () => clearInterval(timer)
    },
    authority: { sha256: own.sha256, path: own.certificatePath },
  }
}

function namesOf({ baseUrl, listen }: Config): string[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return certificateNames({
    baseUrl,
    listenHost: listen.host,
    hostName: hostname(),
    interfaceAddresses: interfaces.map(({ address }) => address),
  })
}

function warnOfEnd({ endMs }: OwnAuthority, clock: Clock, log: Logger): void {
  if (endMs - clock.now() < ENDING_MS)
    log.warn({ ends_at: new Date(endMs).toISOString() }, 'the certificate authority of --tls-self-signed ends soon')
}
