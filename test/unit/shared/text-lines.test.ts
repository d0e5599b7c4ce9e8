import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { textLines } from '../../../src/shared/text-lines.ts'
import { EMBEDDED, useDatastore } from '../../support/datastores/stores.ts'

const inUse = useDatastore(EMBEDDED)

async function readBack(texts: readonly string[]): Promise<readonly string[] | undefined> {
  const { rows } = await sql<{ texts: readonly string[] }>`
    select string_to_array(${textLines(texts)}::text, e'\n') as texts`.execute(inUse.current().pool('interactive'))
  return rows[0]?.texts
}

test.each([[[]], [['one']], [['{"a":"b\\n\\"c\\""}', '', 'null', 'NULL', '{}', 'ü 🜁', '\\', "'", '\r']], [['', '']]])(
  '%j is what the datastore reads',
  async (texts) => {
    expect(await readBack(texts)).toEqual(texts)
  },
)

test.each([[['a\nb']], [['']]])('%j cannot be told from others, and is refused', (texts) => {
  expect(() => textLines(texts)).toThrow(RangeError)
})
