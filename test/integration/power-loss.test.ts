import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddedDatastore, openPglite } from '../../src/server/adapters/pglite/database.ts'
import { depth } from '../support/run/depth.ts'
import { losePower } from '../support/datastores/power-loss.ts'

const POINTS = depth({ ci: 4, deep: 20 })
const ROWS = 400
const recorder = new URL('../support/datastores/disk-recorder.mjs', import.meta.url)

/** A row, and how long the journal was when the row was acknowledged. */
interface Acknowledged {
  readonly id: number
  readonly atBytes: number
}

/** A run of the store whose disk was watched. */
interface Run {
  readonly root: string
  readonly base: string
  readonly journal: string
  readonly acknowledged: readonly Acknowledged[]
}

describe('losing power', () => {
  let directory: string
  let prepared: string
  let run: Run

  const recorded = (journal: string, root: string, skip = '') =>
    `${recorder.href}?${new URLSearchParams({ journal, root, ...(skip !== '' && { skip }) }).toString()}`

  const open = (dataDir: string, syncModule = 'node:fs') =>
    openPglite({ dataDir, engine: { syncModule }, onFailure: () => undefined })

  const idsIn = async (store: EmbeddedDatastore) => {
    const { rows } = await sql<{ id: number }>`select id from kept order by id`.execute(store.pool('interactive'))
    return rows.map(({ id }) => id)
  }

  /** Writes rows one by one, some in tables that did not exist before, with checkpoints between. */
  async function writeRows(name: string, skip = ''): Promise<Run> {
    const dataDir = join(directory, name)
    cpSync(prepared, dataDir, { recursive: true })
    const root = join(dataDir, 'database', 'pgdata')
    const journal = join(directory, `${name}.journal`)
    const store = await open(dataDir, recorded(journal, root, skip))
    const db = store.pool('interactive')
    const acknowledged: Acknowledged[] = []
    for (let id = 1; id <= ROWS; id++) {
      await sql`insert into kept (id, text) values (${id}, ${'x'.repeat(id)})`.execute(db)
      acknowledged.push({ id, atBytes: statSync(journal).size })
      if (id % 150 === 0) await sql`checkpoint`.execute(db)
      if (id % 100 === 0) await sql.raw(`create table made_${id} as select * from kept`).execute(db)
    }
    await store.close()
    return { root, base: join(prepared, 'database', 'pgdata'), journal, acknowledged }
  }

  /** The data directory that is left when the power goes at that point of the run. */
  function leftAt({ root, base, journal }: Run, atBytes: number): string {
    const dataDir = join(directory, `left-${atBytes}`)
    if (existsSync(dataDir)) return dataDir
    mkdirSync(join(dataDir, 'database'), { recursive: true })
    losePower({ journal, atBytes, root, base, target: join(dataDir, 'database', 'pgdata') })
    cpSync(join(prepared, 'database', 'ready'), join(dataDir, 'database', 'ready'))
    return dataDir
  }

  const acknowledgedBy = (atBytes: number) =>
    run.acknowledged.filter((row) => row.atBytes <= atBytes).map(({ id }) => id)

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-power-'))
    prepared = join(directory, 'prepared')
    const store = await open(prepared)
    await sql.raw('create table kept (id integer primary key, text text)').execute(store.pool('interactive'))
    await store.close()
    run = await writeRows('run')
  }, 120_000)
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test(`keeps every acknowledged row, wherever it happens (${POINTS} points)`, async () => {
    const end = run.acknowledged.at(-1)?.atBytes ?? 0
    const figures = { points: POINTS, rows: 0, lost: 0 }
    for (let point = 0; point < POINTS; point++) {
      // At random, one in each part of the run; not between two entries of the journal only.
      const atBytes = Math.floor((end * (point + Math.random())) / POINTS)
      const dataDir = leftAt(run, atBytes)
      const store = await open(dataDir)
      const found = await idsIn(store)
      expect(store.isRecovered).toBe(true)
      const due = acknowledgedBy(atBytes)
      const lost = due.filter((id) => !found.includes(id))
      expect([atBytes, lost]).toEqual([atBytes, []])
      figures.rows += due.length
      figures.lost += lost.length
      await sql`insert into kept (id, text) values (100000, 'goes on')`.execute(store.pool('interactive'))
      await store.close()
      rmSync(dataDir, { recursive: true })
    }
    process.stdout.write(`power loss: ${JSON.stringify(figures)}\n`)
    expect(figures.lost).toBe(0)
  }, 300_000)

  test('keeps every acknowledged row when it happens again during recovery', async () => {
    const atBytes = run.acknowledged.at(-1)?.atBytes ?? 0
    const first = leftAt(run, atBytes)
    const base = join(directory, 'before-recovery')
    const root = join(first, 'database', 'pgdata')
    cpSync(root, base, { recursive: true })
    const journal = join(directory, 'recovery.journal')
    const recovering = await open(first, recorded(journal, root))
    const recoveredAt = statSync(journal).size
    await recovering.close()
    for (const share of depth({ ci: [0.5], deep: [0.1, 0.3, 0.5, 0.7, 0.9] })) {
      const dataDir = join(directory, `again-${share}`)
      mkdirSync(join(dataDir, 'database'), { recursive: true })
      const target = join(dataDir, 'database', 'pgdata')
      losePower({ journal, atBytes: Math.floor(recoveredAt * share), root, base, target })
      cpSync(join(prepared, 'database', 'ready'), join(dataDir, 'database', 'ready'))
      const store = await open(dataDir)
      expect(await idsIn(store)).toEqual(expect.arrayContaining(acknowledgedBy(atBytes)))
      await store.close()
    }
  }, 120_000)

  test('leaves nothing to recover from where the log is not synced: this suite would notice', async () => {
    const hasty = await writeRows('hasty', 'pg_wal')
    const atBytes = hasty.acknowledged.at(-1)?.atBytes ?? 0
    await expect(open(leftAt(hasty, atBytes))).rejects.toThrow('could not locate a valid checkpoint record')
  }, 120_000)
})
