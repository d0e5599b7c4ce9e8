import { TestRunner } from 'vitest'
import { announceLate, withdrawAnnouncement } from './announcement.ts'

/** When the last file may begin, in seconds since the epoch; undefined where none is left out. */
const until = process.env['CTL_TEST_UNTIL']

/** Matches no name. */
const NONE = /$^/

/**
 * Skips the tests of files that would begin after CTL_TEST_UNTIL. The run on a slow machine then ends in time, and names what
 * it did not test.
 */
export default class DeadlineRunner extends TestRunner {
  onBeforeCollect(paths: string[]): void {
    if (until === undefined || Date.now() < Number(until) * 1_000) return
    this.config.testNamePattern = NONE
    for (const path of paths) announceLate(path)
  }

  onCollected(): void {
    // The hooks of a file that is skipped do not run.
    if (this.config.testNamePattern === NONE) withdrawAnnouncement()
  }
}
