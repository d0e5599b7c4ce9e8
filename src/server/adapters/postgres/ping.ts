import { sql } from 'kysely'
import { DatastoreError, type Db } from '../../ports/datastore.ts'

/** One round trip. @throws DatastoreError `unavailable` when there is no answer within `deadlineMs`. */
export async function ping(db: Db, deadlineMs: number): Promise<void> {
  const late = new DatastoreError('unavailable', undefined, new Error(`no answer to a ping within ${deadlineMs} ms`))
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late), deadlineMs)
  })
  try {
    await Promise.race([sql`select 1`.execute(db), deadline])
  } finally {
    clearTimeout(timer)
  }
}
