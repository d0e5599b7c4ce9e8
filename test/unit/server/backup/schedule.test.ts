import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSchedule, type BackupSchedule } from '../../../../src/server/backup/schedule/schedule.ts'
import { listScheduled, scheduledName } from '../../../../src/server/backup/schedule/backup-files.ts'
import type { Leading } from '../../../../src/server/ports/leadership.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-03-01T12:00:00Z')

let directory: string
let now: number
let fails: Error | undefined
let faults: string[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ctl-schedule-'))
  now = START
  fails = undefined
  faults = []
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

interface Replica {
  readonly schedule: BackupSchedule
  pass(): Promise<unknown>
  readonly made: string[]
  loseTerm(): void
}

/** A process that leads. The schedule asks nothing of its term but the signal. */
function replica(keep = 2): Replica {
  const made: string[] = []
  const term = new AbortController()
  const schedule = createSchedule({
    directory,
    intervalMs: HOUR,
    keep,
    clock: { now: () => now },
    async make({ path }) {
      if (fails !== undefined) throw fails
      expect(dirname(path)).toBe(directory)
      writeFileSync(path, '')
      made.push(basename(path))
      return { path, bytes: 0, tables: 0, rows: 0, hasMasterKey: false }
    },
    onMade: () => undefined,
    onFault: (sentence) => faults.push(sentence),
  })
  const leading = { signal: term.signal } as Leading
  return { schedule, made, pass: () => schedule.job.run(leading), loseTerm: () => term.abort() }
}

const files = (): readonly string[] => readdirSync(directory).toSorted()

describe('the schedule of backups', () => {
  it('makes the first backup at once, and the next one an interval after it was begun', async () => {
    const { pass, made } = replica()
    await pass()
    now += HOUR - 1
    await pass()
    expect(made).toEqual(['ctl-20260301T120000Z.ctlbackup'])
    now += 1
    await pass()
    expect(made).toEqual(['ctl-20260301T120000Z.ctlbackup', 'ctl-20260301T130000Z.ctlbackup'])
  })

  it('goes on from the newest file after a restart and after a change of the leader', async () => {
    const first = replica()
    await first.pass()
    first.loseTerm()
    const second = replica()
    now += HOUR / 2
    await second.pass()
    expect(second.made).toEqual([])
    now += HOUR / 2
    await second.pass()
    expect(second.made).toEqual(['ctl-20260301T130000Z.ctlbackup'])
  })

  it('keeps the newest ones, and removes no file that is not named as one of them', async () => {
    const others = ['notes.txt', 'mine.ctlbackup', 'ctl-2026.ctlbackup', 'ctl-20260301T120000Z.ctlbackup.sig']
    for (const name of others) writeFileSync(join(directory, name), '')
    mkdirSync(join(directory, 'old'))
    const { pass } = replica()
    for (let round = 0; round < 4; round += 1) {
      await pass()
      now += HOUR
    }
    expect(files()).toEqual(
      [...others, 'old', 'ctl-20260301T140000Z.ctlbackup', 'ctl-20260301T150000Z.ctlbackup'].toSorted(),
    )
  })

  it('removes what a killed server left half-written', async () => {
    writeFileSync(join(directory, 'ctl-20260228T120000Z.ctlbackup.4711.partial'), '')
    writeFileSync(join(directory, 'mine.ctlbackup.4711.partial'), '')
    await replica().pass()
    expect(files()).toEqual(['ctl-20260301T120000Z.ctlbackup', 'mine.ctlbackup.4711.partial'])
  })

  it('tries again a quarter of an hour after a failure, and says what failed', async () => {
    const { pass, made, schedule } = replica()
    fails = new Error('the disk is full')
    await pass()
    now += 60_000
    await pass()
    expect(schedule.status()).toMatchObject({ failures: 1, fault: 'the disk is full', lastMadeAt: undefined })
    expect(faults).toEqual(['a backup of the schedule failed; it is tried again'])
    fails = undefined
    now += 15 * 60_000
    await pass()
    expect(made).toEqual(['ctl-20260301T121600Z.ctlbackup'])
    expect(schedule.status()).toMatchObject({ failures: 1, fault: undefined, lastMadeAt: now })
  })

  it('is stale two intervals after the newest backup, says so once, and no longer once one is made', async () => {
    const { pass, schedule } = replica()
    await pass()
    fails = new Error('no')
    now += 2 * HOUR
    await pass()
    expect(schedule.status()?.isStale).toBe(false)
    now += HOUR
    await pass()
    now += HOUR
    await pass()
    expect(schedule.status()?.isStale).toBe(true)
    expect(faults.filter((sentence) => sentence.includes('stale'))).toHaveLength(1)
    fails = undefined
    now += HOUR
    await pass()
    expect(schedule.status()?.isStale).toBe(false)
  })

  it('makes one at once when the clock was set back, and keeps to it', async () => {
    const { pass, made } = replica()
    await pass()
    now -= 24 * HOUR
    await pass()
    await pass()
    expect(made).toEqual(['ctl-20260301T120000Z.ctlbackup', 'ctl-20260228T120000Z.ctlbackup'])
    now += HOUR
    await pass()
    expect(made).toHaveLength(3)
  })

  it('keeps the one that it made where others have a later time', async () => {
    const ahead = ['ctl-20270101T120000Z.ctlbackup', 'ctl-20270102T120000Z.ctlbackup']
    for (const name of ahead) writeFileSync(join(directory, name), '')
    const { pass, made } = replica(1)
    await pass()
    await pass()
    expect(made).toEqual(['ctl-20260301T120000Z.ctlbackup'])
    expect(files()).toEqual(['ctl-20260301T120000Z.ctlbackup', ...ahead])
    now += HOUR
    await pass()
    expect(files()).toEqual(['ctl-20260301T130000Z.ctlbackup', ...ahead])
  })

  it('has no status in a process that does not lead', async () => {
    const { schedule, pass, loseTerm } = replica()
    expect(schedule.status()).toBeUndefined()
    await pass()
    expect(schedule.status()).toMatchObject({ lastMadeAt: START, failures: 0, intervalMs: HOUR, isStale: false })
    loseTerm()
    expect(schedule.status()).toBeUndefined()
  })

  it('counts a directory that went away as a failure', async () => {
    const { pass, schedule } = replica()
    rmSync(directory, { recursive: true })
    await pass()
    expect(schedule.status()).toMatchObject({ failures: 1 })
    mkdirSync(directory)
  })
})

describe('names of scheduled backups', () => {
  it('have the time in UTC, and are read back', async () => {
    writeFileSync(join(directory, scheduledName(START + 999)), '')
    expect(await listScheduled(directory)).toEqual([{ name: 'ctl-20260301T120000Z.ctlbackup', madeAt: START }])
  })

  it.each(['ctl-20261301T120000Z.ctlbackup', 'ctl-20260301T120000.ctlbackup', 'x-ctl-20260301T120000Z.ctlbackup'])(
    'are not %s',
    async (name) => {
      writeFileSync(join(directory, name), '')
      expect(await listScheduled(directory)).toEqual([])
    },
  )
})
