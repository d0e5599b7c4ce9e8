import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { freePort } from '../datastores/postgres-cluster.ts'

/** Let's Encrypt's test server, with a directory at `url` on loopback. */
export interface Pebble {
  /** `https://<host>:<port>/dir`; a query is ignored. */
  readonly url: string
  readonly port: number
  /** File with the certificate that vouches for it. */
  readonly caFile: string
  /** Leaves connections open without an answer until it is continued. */
  suspend(): void
  resume(): void
  stop(): Promise<void>
}

/** How it is started where the defaults do not fit. */
export interface PebbleOptions {
  /** Address on which it listens; 127.0.0.1 by default. */
  readonly host?: string
  /** Program and arguments before its own, such as those that enter a namespace. */
  readonly enter?: readonly string[]
  /** Port on which it looks for answers to TLS-ALPN-01; 5001 by default. */
  readonly tlsPort?: number
  /** `address:port` of the name server that it asks; that of the machine by default. */
  readonly nameServer?: string
  /** Keys of accounts, base64url, by their id: it serves only those who have one. */
  readonly externalKeys?: Readonly<Record<string, string>>
}

/** Starts the program on free ports, with a certificate of its own making. Needs openssl. */
export async function startPebble(program: string, options: PebbleOptions = {}): Promise<Pebble> {
  const { host = '127.0.0.1', enter = [], tlsPort = 5001, nameServer, externalKeys } = options
  const folder = mkdtempSync(join(tmpdir(), 'ctl-pebble-'))
  const [key, certificate, configuration] = ['key.pem', 'cert.pem', 'pebble.json'].map((name) => join(folder, name))
  if (key === undefined || certificate === undefined || configuration === undefined) throw new Error('no paths')
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=IP:${host}`]
  execFileSync('openssl', [...made, ...subject, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  const [port, managementPort] = [await freePort(), await freePort()]
  const pebble = {
    listenAddress: `${host}:${port}`,
    managementListenAddress: `${host}:${managementPort}`,
    certificate,
    privateKey: key,
    httpPort: 5002,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: externalKeys !== undefined,
    externalAccountMACKeys: externalKeys ?? {},
  }
  writeFileSync(configuration, JSON.stringify({ pebble }))
  const asked = nameServer === undefined ? [] : ['-dnsserver', nameServer]
  const [command, ...args] = [...enter, program, '-config', configuration, '-strict']
  const env = { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' }
  const child = spawn(command, [...args, ...asked], { stdio: ['ignore', 'pipe', 'ignore'], env })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
  await vi.waitUntil(() => printed.includes('ACME directory available at'), { timeout: 30_000, interval: 20 })
  return {
    url: `https://${host}:${port}/dir`,
    port,
    caFile: certificate,
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
