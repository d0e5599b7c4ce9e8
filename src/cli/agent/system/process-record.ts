import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { Marks } from './marked-processes.ts'
import { startTimeOf } from './process-start.ts'

/** Boots of the machine have different ids: a start time counts from one of them. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id'

const processRecord = z.object({
  pid: z.int().positive(),
  start_time: z.string(),
  boot_id: z.string(),
  marks: z.record(z.string(), z.string()),
})

/** Notes in a file, which appears whole, which process was started with these marks. */
export function writeProcessRecord(
  file: string,
  { pid, marks }: { readonly pid: number; readonly marks: Marks },
): void {
  const record = { pid, start_time: startTimeOf(pid) ?? '', boot_id: bootId(), marks }
  const draft = `${file}.${process.pid}.new`
  try {
    writeFileSync(draft, `${JSON.stringify(record)}\n`, { mode: 0o600 })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** The process that the file names, where it still runs and was started with all of these marks. */
export function recordedProcess(file: string, marks: Marks): number | undefined {
  const record = readRecord(file)
  if (record === undefined || record.boot_id !== bootId()) return undefined
  const isWanted = Object.entries(marks).every(([name, value]) => record.marks[name] === value)
  return isWanted && startTimeOf(record.pid) === record.start_time ? record.pid : undefined
}

function readRecord(file: string): z.infer<typeof processRecord> | undefined {
  try {
    return processRecord.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    // Without a whole record its process is found by its environment, or not at all.
    return undefined
  }
}

function bootId(): string {
  return readFileSync(BOOT_ID, 'utf8').trim()
}
