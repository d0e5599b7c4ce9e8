import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { freePort } from '../datastores/postgres-cluster.ts'

/** Let's Encrypt's test server, with a directory at `url` on loopback. */
export interface Pebble {
  /** `https://127.0.0.1:<port>/dir`; a query is ignored. */
  readonly url: string
  readonly port: number
  /** File with the certificate that vouches for it. */
  readonly caFile: string
  /** Leaves connections open without an answer until it is continued. */
  suspend(): void
  resume(): void
  stop(): Promise<void>
}

/** Starts the program on free ports, with a certificate of its own making. Needs openssl. */
export async function startPebble(program: string): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-pebble-'))
  const [key, certificate, configuration] = ['key.pem', 'cert.pem', 'pebble.json'].map((name) => join(folder, name))
  if (key === undefined || certificate === undefined || configuration === undefined) throw new Error('no paths')
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', [...made, ...subject, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  const [port, managementPort] = [await freePort(), await freePort()]
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate,
    privateKey: key,
    httpPort: 5002,
    tlsPort: 5001,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  }
  writeFileSync(configuration, JSON.stringify({ pebble }))
  const child = spawn(program, ['-config', configuration, '-strict'], { stdio: ['ignore', 'pipe', 'ignore'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
  await vi.waitUntil(() => printed.includes('ACME directory available at'), { timeout: 30_000, interval: 20 })
  return {
    url: `https://127.0.0.1:${port}/dir`,
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
