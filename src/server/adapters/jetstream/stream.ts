import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { everySubjectOf, streamOf } from './names.ts'

/** The storage settings of the stream. */
export interface StreamSettings {
  readonly env: string
  /** Servers of a cluster that each message is stored on. */
  readonly replicas: number
  /** Bytes of the whole stream; undefined: only the server's bound applies. */
  readonly bytesMax: number | undefined
}

const KEPT_MS = 7 * 24 * 60 * 60 * 1000
const KEPT_PER_NODE = 10_000
const DUPLICATE_WINDOW_MS = 2 * 60 * 1000

/** One incarnation of the stream: it is another one after a deletion or a loss of its store. */
export interface Incarnation {
  /**
   * The offset of every number of the stream: its creation time, in microseconds since the epoch. Positions of a later
   * stream are above those of an earlier one, as long as it stored fewer than a million events a second on average.
   */
  readonly base: bigint
  /** Of the oldest message that is kept; one above `lastSeq` where none is. */
  readonly firstSeq: number
  readonly lastSeq: number
}

/** Creates or updates the stream. @throws the server's error. */
export async function ensureStream(manager: JetStreamManager, settings: StreamSettings): Promise<Incarnation> {
  const wanted = configOf(settings)
  const found = await infoOf(manager, wanted.name)
  if (found === undefined) return incarnationOf(await manager.streams.add(wanted))
  const changed = Object.entries(wanted).some(
    ([key, value]) => JSON.stringify(found.config[key as keyof StreamConfig]) !== JSON.stringify(value),
  )
  return incarnationOf(changed ? await manager.streams.update(wanted.name, wanted) : found)
}

/** The current stream. @throws the server's error, also where there is none. */
export async function readStream(manager: JetStreamManager, env: string): Promise<Incarnation> {
  return incarnationOf(await manager.streams.info(streamOf(env)))
}

async function infoOf(manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(name)
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined
    throw error
  }
}

function incarnationOf({ created, state }: StreamInfo): Incarnation {
  return { base: BigInt(Date.parse(created)) * 1000n, firstSeq: state.first_seq, lastSeq: state.last_seq }
}

function configOf({ env, replicas, bytesMax }: StreamSettings) {
  return {
    name: streamOf(env),
    subjects: [everySubjectOf(env)],
    description: 'Signed events of nodes, written by ctl',
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_msgs_per_subject: KEPT_PER_NODE,
    max_age: nanos(KEPT_MS),
    max_bytes: bytesMax ?? -1,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    num_replicas: replicas,
    allow_direct: true,
  } satisfies Partial<StreamConfig> & Pick<StreamConfig, 'name'>
}
