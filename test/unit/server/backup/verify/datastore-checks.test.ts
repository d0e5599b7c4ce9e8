import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { masterKeyOf } from '../../../../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../../../../src/server/adapters/keyring/open-keyring.ts'
import { createSealing } from '../../../../../src/server/adapters/keyring/ring.ts'
import type { Check } from '../../../../../src/server/backup/verify/checks.ts'
import { datastoreChecks } from '../../../../../src/server/backup/verify/datastore-checks.ts'
import { keyCheck } from '../../../../../src/server/backup/verify/key-check.ts'
import { createBackupProof } from '../../../../../src/server/composition/backup-proof.ts'
import { emptyTables } from '../../../../support/datastores/empty-tables.ts'
import { EMBEDDED, useDatastore } from '../../../../support/datastores/stores.ts'

const inUse = useDatastore(EMBEDDED)
beforeEach(() => emptyTables(inUse.current()))

const proof = createBackupProof()
const run = (statements: string) => sql.raw(statements).execute(inUse.current().pool('bulk'))

async function faultsOf(check: Check | undefined): Promise<readonly string[]> {
  const looked = await check?.run()
  if (looked === undefined || 'skipped' in looked) throw new Error('the check was not made')
  return looked.faults
}

const faults = (name: string): Promise<readonly string[]> =>
  faultsOf(datastoreChecks(inUse.current(), proof).find((check) => check.name === name))

/** Rows of the outbox with these numbers; all of them were given up to `head`. */
async function outbox(numbers: readonly number[], head: number): Promise<void> {
  const rows = numbers.map((seq) => `(${seq}, 'X', 'domain:x', '{}', 'x', now())`).join(', ')
  await run(
    `insert into outbox (seq, event, aggregate, payload, correlation_id, occurred_at) values ${rows};
     update outbox_head set seq = ${head}`,
  )
}

const consumers = (...cursors: readonly number[]) =>
  run(
    `insert into outbox_consumers (name, seq) values ${cursors.map((seq, at) => `('consumer-${at}', ${seq})`).join(', ')}`,
  )

describe('the outbox of a backup', () => {
  it('may lack numbers that every consumer has processed: rows are deleted by their age', async () => {
    await outbox([5, 7, 8, 9], 9)
    await consumers(7, 9)
    expect(await faults('outbox')).toEqual([])
  })

  it('may have lost all of its rows but one that is not the last', async () => {
    await outbox([5], 6)
    await consumers(6)
    expect(await faults('outbox')).toEqual([])
  })

  it('lacks no number that a consumer has not processed', async () => {
    await outbox([5, 6, 8, 9], 9)
    await consumers(6, 9)
    expect(await faults('outbox')).toEqual([
      'The outbox has 2 rows after number 6, and numbers were given up to 9: use another backup.',
    ])
  })

  it('has no number that was not given, and no consumer outside of it', async () => {
    await outbox([5, 6], 5)
    await consumers(3, 5)
    expect(await faults('outbox')).toEqual([
      'The outbox ends at 6, and its head is 5: use another backup.',
      'The consumer consumer-0 is at 3, outside of the outbox (4 to 5): use another backup.',
    ])
  })
})

describe('a verification finds', () => {
  it('a sequence that would give a number that is taken', async () => {
    expect(await faults('sequences')).toEqual([])
    await run(
      `insert into outbox (id, event, aggregate, payload, correlation_id, occurred_at)
       overriding system value values (900, 'X', 'domain:x', '{}', 'x', now())`,
    )
    expect(await faults('sequences')).toEqual(['The sequence of outbox.id is behind its rows: use another backup.'])
  })

  it('a head of the event log that is behind its marks', async () => {
    expect(await faults('event sequence')).toEqual([])
    await run('update event_log_head set pruned_seq = 1')
    expect(await faults('event sequence')).toEqual([
      'The marks of the event log are above its head: use another backup.',
    ])
  })

  it('a node whose events would go on after changes that nobody has made yet', async () => {
    const node = '01900000-0000-7000-8000-000000000001'
    await run(
      `insert into node_lanes (node_id, domain_id, hinted_seq, hinted_at) values ('${node}', '${node}', 7, now());
       update outbox_head set seq = 7`,
    )
    expect(await faults('event sequence')).toEqual([])
    await run('update outbox_head set seq = 6')
    expect(await faults('event sequence')).toEqual([
      `The events of node:${node} go on ahead of the outbox: use another backup.`,
    ])
  })

  it('a sealed value that was moved to another row, whichever column it is in', async () => {
    const master = masterKeyOf(Buffer.alloc(32, 7))
    const check = () => faultsOf(keyCheck(inUse.current(), { key: master, proof }))
    const sealing = createSealing(await openRing(inUse.current(), master, { now: () => 0 }))
    const seal = async (rowId: string) =>
      (await sealing.seal({ table: 'secret_versions', column: 'sealed', rowId }, Buffer.from('x'))).toString('hex')
    await run(
      `insert into secret_versions (path, version, sealed) values
         ('a', 1, '\\x${await seal('a@1')}'), ('b', 12, '\\x${await seal('b@12')}'), ('c', 1, null)`,
    )
    expect(await check()).toEqual([])
    await run(`update secret_versions set path = 'd' where path = 'a'`)
    expect(await check()).toEqual([
      '1 of 2 values of secret_versions.sealed do not open under the keyring: use another backup.',
    ])
  })

  it('a key of the keyring that does not open, in a line of its table', async () => {
    const master = masterKeyOf(Buffer.alloc(32, 7))
    await openRing(inUse.current(), master, { now: () => 0 })
    expect(await faultsOf(keyCheck(inUse.current(), { key: master, proof }))).toEqual([])
    await run(
      'update keyring set sealed = set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) # 1)',
    )
    const shut = await faultsOf(keyCheck(inUse.current(), { key: master, proof }))
    expect(shut).toHaveLength(5)
    expect(shut[0]).toMatch(/^The key \w{8} of the keyring does not open under master key mk-[0-9a-f]{12}: use another/)
  })
})
