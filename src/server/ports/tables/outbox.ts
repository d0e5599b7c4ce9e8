import type { Generated } from 'kysely'
import type { Json } from './json.ts'

/** Tables of the outbox, its consumers and the leader that numbers it. */
export interface OutboxTables {
  outbox: OutboxRow
  outbox_head: OutboxHeadRow
  outbox_consumers: OutboxConsumerRow
  leader_term: LeaderTermRow
}

export interface OutboxRow {
  id: Generated<string>
  /** Given by the leader in commit order; null until then. */
  seq: string | null
  event: string
  domain_id: string | null
  aggregate: string
  payload: Json<unknown>
  correlation_id: string
  occurred_at: Date
}

/** The last number given to an outbox row; the row is also the lock of numbering. */
interface OutboxHeadRow {
  id: number
  seq: string
  /** What positions in the streams of Domains are above the numbers of rows. */
  stream_base: Generated<string>
}

interface OutboxConsumerRow {
  name: string
  /** The last row that it is done with. */
  seq: string
}

interface LeaderTermRow {
  id: number
  /** Rises whenever a process becomes leader. */
  term: string
  /** Host and process id of who took it, for people. */
  holder: string
}
