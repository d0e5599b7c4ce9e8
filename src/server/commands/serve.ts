import type { Logger } from 'pino'
import { commandBesideServer } from '../../shared/invocation.ts'
import { parseConfig, type Config } from '../config/config.ts'
import { helpText } from '../config/reference.ts'
import { listenForEnding, type Ending } from './shutdown.ts'
import { explainFailure } from './explain-failure.ts'
import { createMemoryHandover, type MemoryHandover } from '../first-run/memory-handover.ts'
import { createTokenFile } from '../first-run/token-file.ts'
import type { TokenHandover } from '../first-run/token-handover.ts'
import { urlFromHere } from '../composition/listen.ts'
import { createLog, type TextSink } from '../composition/log.ts'
import { packageVersion } from '../composition/package-version.ts'
import type { RunningServer, ServeOptions } from '../composition/serve.ts'
import { addDemoCatalogue } from './demo-catalogue.ts'
import { welcome } from './welcome.ts'

/** What the command line does for the server, which must not import it. */
export interface ServeIo {
  readonly stdout: TextSink
  readonly stderr: TextSink
  /** Stores a context of that name for later commands (`--dev`). Resolves with a function that makes the former one current again. */
  readonly keepContext: (context: {
    readonly name: string
    readonly url: string
    readonly token: string
  }) => Promise<() => Promise<void>>
  /** Simulates a fleet against the server until the signal (`--demo`). Rejects when it cannot. */
  readonly simulate: (fleet: SimulatedFleet) => Promise<void>
}

export interface SimulatedFleet {
  readonly url: string
  /** The server's own certificate authority, where it has one. */
  readonly authority: RunningServer['authority']
  readonly joinToken: string
  readonly nodes: number
  readonly signal: AbortSignal
}

const DEMO_NODES = 50
const DEV_JOIN_USES = 1000
const DAY_SECONDS = 86_400

/**
 * Runs `ctl serve` until a signal ends it, or the loss of the embedded datastore. Resolves with the exit code: 0 after a
 * signal, 1 after a loss; else the exit code of the error.
 *
 * @param argv what follows `serve`
 */
export async function runServe(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  io: ServeIo,
): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    io.stdout.write(helpText())
    return 0
  }
  try {
    const config = parseConfig({ argv, env, uid: process.geteuid?.() })
    return config.isCheck ? await check(config, io) : await run(config, io)
  } catch (error) {
    return explainFailure('serve', error, io.stderr)
  }
}

async function check(config: Config, { stderr }: ServeIo): Promise<number> {
  const { tls, masterKey } = config
  const { checkTls } = await import('../composition/served-tls.ts')
  checkTls(tls, { now: () => Date.now() })
  await (await import('../composition/open-release-verifier.ts')).openReleaseVerifier(config)
  const { checkSigner } = await import('../composition/open-signer.ts')
  await checkSigner(config, createLog('silent', stderr))
  ;(await import('../composition/backup-schedule.ts')).checkSchedule(config)
  const loose = (await import('../adapters/keyring/master-key.ts')).looseMode(masterKey)
  if (loose !== undefined) stderr.write(`warning: ${loose}\n`)
  stderr.write('The configuration is valid.\n')
  return 0
}

async function run(config: Config, io: ServeIo): Promise<number> {
  const log = createLog(config.logLevel, io.stderr)
  const ending = listenForEnding(io.stderr)
  const memory = createMemoryHandover()
  // Only a new process can use the data again: it recovers from the write-ahead log.
  const onBroken = (error: Error): void => {
    log.fatal({ err: error }, 'the embedded datastore is lost: the process ends')
    ending.lose(error)
  }
  try {
    const handover = config.isDev ? memory : createTokenFile(config.bootstrapTokenFile)
    const shown = createMemoryHandover()
    const initialPassword = passwordHandover(config, io, shown)
    const server = await start({ config, log, handover, initialPassword, onBroken })
    announce(server, config, { io, password: io.stderr.isTty ? shown.published() : undefined })
    await runUntilEnded(server, { config, io, memory, ending, log })
    return ending.conclude()
  } catch (error) {
    if (ending.isLost()) return ending.conclude()
    throw error
  } finally {
    ending.dispose()
  }
}

/** Shown on a terminal, never to a log collector. */
function passwordHandover(config: Config, { stderr }: ServeIo, shown: MemoryHandover): TokenHandover {
  return config.isDev || stderr.isTty ? shown : createTokenFile(config.initialPasswordFile, 'initial password')
}

/** Loads the services only now: help, `--check` and a refused configuration do not need them. */
async function start(options: Omit<ServeOptions, 'command'>): Promise<RunningServer> {
  const { serve } = await import('../composition/serve.ts')
  return serve({ ...options, command: commandBesideServer(process.env) })
}

async function runUntilEnded(server: RunningServer, extras: Extras): Promise<void> {
  const { io, ending, log } = extras
  const stopReloading = reloadOnHangup(server, log)
  const running = runExtras(server, extras)
  await ending.ended
  if (!ending.isLost()) sayStopping(io)
  stopReloading()
  await Promise.all([running, server.close(ending.closeMs())])
  log.flush()
}

function sayStopping({ stderr }: ServeIo): void {
  // A terminal has just echoed ^C.
  if (stderr.isTty) stderr.write('\n')
  stderr.write('Stopping: letting requests finish (10 s at most; once more to stop at once).\n')
}

/** The certificate is read again on SIGHUP; an invalid one leaves the old one in use. */
function reloadOnHangup(server: RunningServer, log: Logger): () => void {
  const reload = async (): Promise<void> => {
    try {
      await server.reloadTls()
      log.info('certificate and key were reloaded')
    } catch (error) {
      log.error({ err: error }, 'certificate and key stay as they were')
    }
  }
  const onHangup = (): void => void reload()
  process.on('SIGHUP', onHangup)
  return () => void process.off('SIGHUP', onHangup)
}

/** The messages for people, then the ready line for scripts (decisions: First run): a script that waits for it has all output. */
function announce(server: RunningServer, config: Config, { io, password }: Announcing): void {
  const { url, opsUrl, authority } = server
  const { stdout, stderr } = io
  const version = packageVersion()
  stderr.write(welcome({ ...server, version, config, password, command: commandBesideServer(process.env) }))
  if (stdout.isTty) return
  const trust = authority && { ca_sha256: authority.sha256 }
  const ready = { event: 'ready', url, ops_url: opsUrl ?? null, ...trust, pid: process.pid, version }
  stdout.write(`${JSON.stringify(ready)}\n`)
}

/** The output that the password goes to, and the one-time password where it is shown. */
interface Announcing {
  readonly io: ServeIo
  readonly password: string | undefined
}

interface Extras {
  readonly config: Config
  readonly io: ServeIo
  readonly memory: MemoryHandover
  readonly ending: Ending
  readonly log: Logger
}

/** What `--dev` and `--demo` add to a running server. A failure of theirs leaves it running. */
async function runExtras(server: RunningServer, extras: Extras): Promise<void> {
  const { config, ending, log } = extras
  let leaveDev: (() => Promise<void>) | undefined
  try {
    if (config.isDev) leaveDev = await offerDev(server, extras)
    if (config.isDemo) await playFleet(server, extras)
  } catch (error) {
    // A server that stops refuses the requests of its fleet.
    if (!ending.signal.aborted) log.error({ err: error }, '--dev or --demo setup failed; continuing without it')
  }
  await ending.ended
  await leaveDev?.().catch((error: unknown) => log.warn({ err: error }, 'the context dev is still current'))
}

/** Resolves with a function that makes the former context current again. */
async function offerDev(server: RunningServer, { io, memory }: Extras): Promise<() => Promise<void>> {
  const token = memory.token()
  const joinToken = await mintJoinToken(server, token, { max_uses: DEV_JOIN_USES, ttl_seconds: DAY_SECONDS })
  const leave = await io.keepContext({ name: 'dev', url: server.url, token })
  const command = commandBesideServer(process.env)
  io.stderr.write(`The context dev is stored and in use: ${command} whoami\nJoin token for a day: ${joinToken}\n`)
  return leave
}

async function playFleet(server: RunningServer, { config, io, memory, ending }: Extras): Promise<void> {
  const token = config.isDev ? memory.token() : await server.issueToken()
  await addDemoCatalogue(server, token)
  const labels = { simulated: 'true' }
  const terms = { max_uses: DEMO_NODES, ttl_seconds: DAY_SECONDS, ephemeral: true, labels }
  const joinToken = await mintJoinToken(server, token, terms)
  const { url, authority } = server
  await io.simulate({ url: urlFromHere(url), authority, joinToken, nodes: DEMO_NODES, signal: ending.signal })
}

async function mintJoinToken(server: RunningServer, token: string, terms: object): Promise<string> {
  const whoami = await server.request({ method: 'GET', path: '/v1/auth/whoami', token })
  const { domain_id: domainId } = whoami as { domain_id: string }
  const path = `/v1/domains/${domainId}/join-tokens`
  const answer = await server.request({ method: 'POST', path, token, body: terms })
  return (answer as { token: string }).token
}
