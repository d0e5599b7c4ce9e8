import { sql } from 'kysely'
import type { Clock } from '../ports/clock.ts'
import type { Db } from '../ports/datastore.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import type { Tables } from '../ports/tables/tables.ts'

type Column<Table extends keyof Tables> = Extract<keyof Tables[Table], string>

/** Which rows of a table a job deletes, and when. */
export interface BatchDelete<Table extends keyof Tables> {
  /** Name of the job. */
  readonly name: string
  readonly table: Table
  /** The column of the primary key; the place of the row where that has several. */
  readonly key: Column<Table> | 'ctid'
  /** The column with the instant when a row is over; null while it is not. An index has to begin with it. */
  readonly endedAt: Column<Table>
  /** How long a row stays after that instant, ms. */
  readonly keptMs: number
  /** Pause after each pass, ms. */
  readonly everyMs: number
  /** Rows deleted in one transaction. */
  readonly rowsMax: number
}

/** The job that deletes the rows of one table some time after they are over, the earliest first. */
export function createBatchDelete<Table extends keyof Tables>(clock: Clock, batch: BatchDelete<Table>): LeaderJob {
  return {
    name: batch.name,
    everyMs: batch.everyMs,
    async run(leading) {
      const before = new Date(clock.now() - batch.keptMs)
      return (await leading.transaction((tx) => deleteBefore(tx, batch, before))) === batch.rowsMax
    },
  }
}

/** A row that somebody is using is left to a later pass. */
async function deleteBefore<Table extends keyof Tables>(
  tx: Db,
  { rowsMax, ...batch }: BatchDelete<Table>,
  before: Date,
): Promise<number> {
  const [table, key, endedAt] = [sql.table(batch.table), sql.ref(batch.key), sql.ref(batch.endedAt)]
  const { numAffectedRows = 0n } = await sql`
    delete from ${table} where ${key} in (
      select ${key} from ${table} where ${endedAt} < ${before}
      order by ${endedAt} limit ${rowsMax} for update skip locked
    )`.execute(tx)
  return Number(numAffectedRows)
}
