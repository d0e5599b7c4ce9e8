import { Gauge, type Registry } from 'prom-client'

/** The schedule of backups, in the process that leads; undefined elsewhere, and where there is no schedule. */
export type BackupState = () =>
  | { readonly lastMadeAt: number | undefined; readonly failures: number; readonly intervalMs: number }
  | undefined

/** Registers the gauges of the schedule. They have values in the process that leads only. */
export function createBackupMetrics(registry: Registry, state: BackupState): void {
  const rows = [
    [
      'backup_last_success_timestamp_seconds',
      'When the newest backup of the schedule was begun; 0 before the first one',
      (found: NonNullable<ReturnType<BackupState>>) => (found.lastMadeAt ?? 0) / 1000,
    ],
    [
      'backup_interval_seconds',
      'Time from one backup of the schedule to the next',
      (found: NonNullable<ReturnType<BackupState>>) => found.intervalMs / 1000,
    ],
    [
      'backup_failures',
      'Backups of the schedule that failed in this process',
      (found: NonNullable<ReturnType<BackupState>>) => found.failures,
    ],
  ] as const
  for (const [name, help, valueOf] of rows) {
    const gauge = new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const found = state()
        // Without labels a gauge begins with 0, which would be the time of a backup.
        if (found === undefined) this.remove()
        else this.set(valueOf(found))
      },
    })
    gauge.remove()
  }
}
