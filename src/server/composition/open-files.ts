import type { Logger } from 'pino'
import { openProcessFiles } from '../adapters/system/process-files.ts'
import type { Config } from '../config/config.ts'
import type { App } from '../http/app.ts'
import { fileReserveOf } from '../http/limits/file-reserve.ts'
import type { FileBounds } from '../http/limits/open-files.ts'
import type { Unprobed } from '../ops/health.ts'
import type { Clock } from '../ports/clock.ts'
import type { ProcessFiles } from '../ports/process-files.ts'
import type { Services } from './services.ts'

/** A limit below this one is warned of, however few nodes there are. */
const LOW_LIMIT = 4_096
/** A node has an event stream, and a connection for its calls. */
const FILES_OF_NODE = 2
/** How often the number of nodes is compared with the limit; it is sampled every 15 s. */
const COMPARE_EVERY_MS = 15_000

/** Files beside connections of clients: webhooks under way, other outgoing calls and name look-ups, health checks, logs and keys. */
const ALWAYS = 64 + 32 + 16 + 16
/** Beside the pools of PostgreSQL: the leader, its hints, a backup, and one to spare. */
const BESIDE_POOLS = 4
/** The embedded datastore opens 1,000 at most, of which some 340 are open after its start. */
const OF_EMBEDDED = 660
/** A connection, and the one that replaces it. */
const OF_DEPENDENCY = 2
/** Calls to OpenBao under way. */
const OF_SECRET_STORE = 32

/** Compares the limit of open files with what the server needs, and warns where it is too low. */
export interface FileWatch {
  readonly bounds: FileBounds
  /** What readiness and `ctl doctor` show. It has no part in the status of the server. */
  readonly unprobed: Unprobed
  /** Compares now, and then every few seconds. Each new fault is logged once. */
  follow(parts: WatchedParts): void
  stop(): void
}

interface WatchedParts {
  readonly app: Pick<App, 'load'>
  readonly services: Pick<Services, 'capacity' | 'capacityLimits'>
  readonly log: Pick<Logger, 'warn'>
}

interface FileWatchDeps {
  readonly config: Config
  readonly clock: Clock
  /** Those of this process by default. */
  readonly files?: ProcessFiles | undefined
}

interface Fault {
  readonly since: Date
  readonly fault: string
}

/** Undefined where the limit of open files is unknown. */
export function createFileWatch({ config, clock, files = openProcessFiles() }: FileWatchDeps): FileWatch | undefined {
  if (files === undefined) return undefined
  const { max } = files
  const bounds = { files, own: filesOfServer(config) }
  const { forStreams } = fileReserveOf(max, bounds.own)
  let parts: WatchedParts | undefined
  let timer: NodeJS.Timeout | undefined
  let found: Fault | undefined

  function compare({ services, log }: WatchedParts): void {
    const nodes = nodesOf(services)
    const needed = FILES_OF_NODE * nodes + forStreams
    const fault = faultOf(max, needed)
    if (fault === found?.fault) return
    found = fault === undefined ? undefined : { since: new Date(clock.now()), fault }
    if (fault === undefined) return
    log.warn({ max, needed, nodes }, `${fault}: raise it (LimitNOFILE, ulimit -n), or add replicas`)
  }

  return {
    bounds,
    unprobed: {
      name: 'open-files',
      meanwhile:
        'Everything works until the files are used up. Then new event streams are refused; open ones, heartbeats and other calls go on.',
      lastCall() {
        const since = parts?.app.load().files?.refusesSince
        return since === undefined ? found : { since, fault: 'new event streams are refused: too many files are open' }
      },
    },
    follow(watched) {
      parts = watched
      compare(watched)
      timer = setInterval(() => compare(watched), COMPARE_EVERY_MS).unref()
    },
    stop: () => clearInterval(timer),
  }
}

/** In one sentence for everyone, without the number of nodes; undefined where the limit is high enough. */
function faultOf(max: number, needed: number): string | undefined {
  if (needed > max) return `the limit of ${max} open files is too low for the nodes that this replica serves`
  return max < LOW_LIMIT ? `the limit of ${max} open files is low` : undefined
}

/** The share of this replica, as of the last sample; 0 before the first. */
function nodesOf({ capacity, capacityLimits }: WatchedParts['services']): number {
  const uses = capacity.capacityMonitor.all().flatMap(({ dimensions }) => dimensions)
  const nodes = uses.reduce((sum, { dimension, used }) => (dimension === 'nodes' ? sum + used : sum), 0)
  return Math.ceil(nodes / capacityLimits.liveReplicas())
}

/** How many files a server with this configuration may open beside connections of clients. */
export function filesOfServer({ storage, pools, nats, spicedb, secretStore, signer }: FileSettings): number {
  const ofPools = Object.values(pools).reduce((sum, { max }) => sum + max, 0)
  const ofDatastore = storage.kind === 'postgres' ? ofPools + BESIDE_POOLS : OF_EMBEDDED
  const ofDependencies = [nats, spicedb].filter((one) => one !== undefined).length * OF_DEPENDENCY
  const ofSecrets = secretStore !== undefined || signer.transit !== undefined ? OF_SECRET_STORE : 0
  return ALWAYS + ofDatastore + ofDependencies + ofSecrets
}

type FileSettings = Pick<Config, 'storage' | 'pools' | 'nats' | 'spicedb' | 'secretStore' | 'signer'>
