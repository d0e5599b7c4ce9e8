import { appendFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

const folder = process.env['CTL_TEST_ANNOUNCE']

/** Notes why hooks within a file failed for scripts/test.mjs: vitest's own report as JSON names the file, but not why. */
export default class HookErrors implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const { moduleId: file, children } of modules) {
      for (const suite of children.allSuites()) {
        for (const { message } of suite.errors()) {
          appendFileSync(`${folder}.hooks`, `${JSON.stringify({ file, suite: suite.fullName, message })}\n`)
        }
      }
    }
  }
}
