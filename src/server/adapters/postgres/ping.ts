import { sql } from 'kysely'
import { DatastoreError, type Db } from '../../ports/datastore.ts'
import { startDeadline, type Deadline } from './start-deadline.ts'

/**
 * Makes one round trip. @throws DatastoreError `unavailable` when there is no answer within `deadlineMs`, `readonly`
 * when the server answers and accepts no writes: it is a standby, or its disk is full.
 */
export async function ping(db: Db, deadlineMs: number): Promise<void> {
  const late = new DatastoreError('unavailable', undefined, new Error(`no answer to a ping within ${deadlineMs} ms`))
  let deadline: Deadline | undefined
  const passed = new Promise<never>((_resolve, reject) => {
    deadline = startDeadline(deadlineMs, () => reject(late))
  })
  try {
    const asked = sql<{ mode: string }>`select current_setting('transaction_read_only') as mode`.execute(db)
    const { rows } = await Promise.race([asked, passed])
    if (rows[0]?.mode === 'on') throw new DatastoreError('readonly', undefined, new Error('it takes no writes'))
  } finally {
    deadline?.clear()
  }
}
