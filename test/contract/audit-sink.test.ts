import { beforeEach, describe, expect, test } from 'vitest'
import { createAuditSink } from '../../src/server/adapters/postgres/audit-sink.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

const ROW = {
  id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b',
  atMs: Date.parse('2026-03-01T08:00:00.123Z'),
  domainId: '01935b5e-0000-7000-8000-000000000001',
  subject: 'user:01935b5e-0000-7000-8000-000000000002',
  relation: 'node.list',
  object: 'platform:main',
  outcome: 'granted',
  reason: 'granted',
  correlationId: 'c-"1"\\',
  context: { item_count: 3, note: 'Zürich "x"' },
} as const

describe.each(STORES)('on $name', (store) => {
  describe.skipIf(store.missing)('the audit sink', () => {
    const inUse = useDatastore(store)
    beforeEach(() => emptyTables(inUse.current()))
    const stored = () => inUse.current().pool('interactive').selectFrom('audit').selectAll().orderBy('id').execute()

    test('stores every member of every row', async () => {
      const platform = { ...ROW, id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c', domainId: null, context: {} }
      await createAuditSink(inUse.current()).write([ROW, platform])
      expect(await stored()).toEqual([
        {
          id: ROW.id,
          at: new Date('2026-03-01T08:00:00.123Z'),
          domain_id: ROW.domainId,
          subject: ROW.subject,
          relation: 'node.list',
          object: 'platform:main',
          outcome: 'granted',
          reason: 'granted',
          correlation_id: 'c-"1"\\',
          context: { item_count: 3, note: 'Zürich "x"' },
        },
        expect.objectContaining({ id: platform.id, domain_id: null, context: {} }),
      ])
    })

    test('stores a row once, however often it is handed over', async () => {
      const sink = createAuditSink(inUse.current())
      await sink.write([ROW])
      await sink.write([ROW])
      expect(await stored()).toHaveLength(1)
    })

    test('takes no rows as nothing to do', async () => {
      await createAuditSink(inUse.current()).write([])
      expect(await stored()).toEqual([])
    })
  })
})
