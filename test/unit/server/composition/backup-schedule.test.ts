import { describe, expect, it } from 'vitest'
import type { BackupStatus } from '../../../../src/server/backup/schedule/schedule.ts'
import { unprobedSchedule } from '../../../../src/server/composition/backup-schedule.ts'
import type { LastCall } from '../../../../src/server/ops/health.ts'

const LEADS_SINCE = Date.parse('2026-03-01T11:00:00Z')
const MADE = Date.parse('2026-03-01T12:00:00Z')
const JOB = { name: 'backup-schedule', everyMs: 1, run: async () => false }
const FRESH: BackupStatus = {
  lastMadeAt: undefined,
  leadsSince: LEADS_SINCE,
  failures: 0,
  fault: undefined,
  intervalMs: 1,
  isStale: false,
}

interface Row {
  readonly title: string
  readonly status: BackupStatus | undefined
  readonly shown: LastCall | undefined
}

const FAILED = 'the last backup failed; the log has the reason'
const STALE = 'no backup was made for two intervals; the log has the reason'

const ROWS: readonly Row[] = [
  { title: 'nothing in a process that does not lead', status: undefined, shown: undefined },
  { title: 'nothing before the first backup', status: FRESH, shown: undefined },
  {
    title: 'when the newest backup was made',
    status: { ...FRESH, lastMadeAt: MADE },
    shown: { since: new Date(MADE), fault: undefined },
  },
  {
    title: 'a failure, since the newest backup',
    status: { ...FRESH, lastMadeAt: MADE, fault: 'no' },
    shown: { since: new Date(MADE), fault: FAILED },
  },
  {
    title: 'a failure where none was made, since the process leads',
    status: { ...FRESH, fault: 'no' },
    shown: { since: new Date(LEADS_SINCE), fault: FAILED },
  },
  {
    title: 'that none was made for two intervals',
    status: { ...FRESH, isStale: true },
    shown: { since: new Date(LEADS_SINCE), fault: STALE },
  },
]

describe('what readiness shows of the schedule of backups', () => {
  it.each(ROWS)('is $title', ({ status, shown }) => {
    expect(unprobedSchedule({ job: JOB, status: () => status })[0]?.lastCall()).toEqual(shown)
  })

  it('is nothing where there is no schedule', () => {
    expect(unprobedSchedule(undefined)).toEqual([])
  })
})
