import type { Client } from 'pg'
import type { Snapshot } from '../../ports/snapshot.ts'
import { CopyOut } from './copy-out.ts'
import { translateError } from './errors.ts'

/**
 * Nothing bounds the time of a backup but its caller. Text is the same whatever the server's own settings are. A table
 * that is being rebuilt keeps the backup waiting for a minute at most.
 */
const SETTINGS = [
  `statement_timeout = 0`,
  `idle_in_transaction_session_timeout = 0`,
  `lock_timeout = '60s'`,
  `timezone = 'UTC'`,
  `datestyle = 'ISO'`,
  `intervalstyle = 'postgres'`,
  `bytea_output = 'hex'`,
  `extra_float_digits = 1`,
  `client_encoding = 'UTF8'`,
  `jit = off`,
]

/**
 * Begins the transaction that reads one state of the database until it ends. Tables cannot be rebuilt or altered until
 * then: the ranges in which they are read stay where they are.
 *
 * @throws DatastoreError
 */
export async function beginReading(client: Client): Promise<Omit<Snapshot, 'close'>> {
  const reader = readerOver(client)
  const tables = await reader.rows(
    `select quote_ident(relname) as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') order by 1`,
  )
  const names = tables.map(({ name }) => String(name)).join(', ')
  await reader.rows('begin isolation level repeatable read, read only')
  for (const setting of SETTINGS) await reader.rows(`set local ${setting}`)
  // The first query takes the snapshot. A table that a migration rebuilt between it and the lock would look empty.
  if (names !== '') await reader.rows(`lock table ${names} in access share mode`)
  await reader.rows('select 1')
  return reader
}

function readerOver(client: Client): Omit<Snapshot, 'close'> {
  return {
    async rows(text) {
      try {
        return (await client.query<Record<string, unknown>>(text)).rows
      } catch (error) {
        throw translateError(error)
      }
    },
    copyOut: (text, bytesMax) =>
      new Promise((resolve, reject) => {
        const query = new CopyOut({ text, bytesMax }, (error) => {
          if (error) reject(translateError(error))
          else resolve(query.collected())
        })
        client.query(query)
      }),
  }
}
