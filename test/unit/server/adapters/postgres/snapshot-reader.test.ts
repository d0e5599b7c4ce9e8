import type { Client } from 'pg'
import { expect, it } from 'vitest'
import { beginReading } from '../../../../../src/server/adapters/postgres/snapshot-reader.ts'

/** A connection that records the first word of each statement, and has two tables. */
function recording() {
  const words: string[] = []
  const query = async (text: string) => {
    words.push(/^\w+/.exec(text)?.[0] ?? '')
    return { rows: [{ name: 'audit' }, { name: 'nodes' }] }
  }
  return { client: { query } as unknown as Client, words }
}

it('locks every table before the query that takes the snapshot, so that none is rebuilt between the two', async () => {
  const { client, words } = recording()
  await beginReading(client)
  expect(words.filter((word) => word !== 'set')).toEqual(['select', 'begin', 'lock', 'select'])
})
