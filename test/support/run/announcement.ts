import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// What a process that runs tests lets scripts/test.mjs know: which file it runs, so that one whose event loop is blocked can
// be ended (scripts/lib/overdue-tests.mjs), and which it left out.
const folder = process.env['CTL_TEST_ANNOUNCE']

/** Says that this process runs the tests of that file. */
export function announce(file: string): void {
  if (folder !== undefined) writeFileSync(join(folder, String(process.pid)), file)
}

/** Says that this process runs no tests now. */
export function withdrawAnnouncement(): void {
  if (folder !== undefined) rmSync(join(folder, String(process.pid)), { force: true })
}

/** Says that the file was left out. */
export function announceLate(file: string): void {
  if (folder !== undefined) appendFileSync(`${folder}.late`, `${file}\n`)
}
