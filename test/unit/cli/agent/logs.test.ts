import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createCliHome, type CliHome } from '../../../support/cli/cli-run.ts'

let home: CliHome
let path: string

beforeEach(() => {
  home = createCliHome()
  path = join(home.home, 'agent.log')
})
afterEach(() => home.remove())

test('"agent logs" prints the last lines', async () => {
  writeFileSync(path, 'one\ntwo\nthree\n')
  expect(await home.run(['agent', 'logs', '--state-dir', '.', '-n', '2'])).toMatchObject({
    exitCode: 0,
    stdout: 'two\nthree\n',
  })
})

test('"agent logs" says where it looked for a log that is not there', async () => {
  const { exitCode, stderr } = await home.run(['agent', 'logs', '--state-dir', '.'])
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining(`there is no log at ${path}`)])
})

test('"agent logs --follow" prints whole lines as they come, also those of the next file, and none twice', async () => {
  writeFileSync(path, 'one\n')
  const interruption = new AbortController()
  const steps: readonly (() => void)[] = [
    () => appendFileSync(path, Buffer.from('zwei: fü').subarray(0, -1)),
    () => appendFileSync(path, Buffer.from([0xbc, 0x0a])),
    () => renameSync(path, `${path}.1`),
    // As long as the former one, which it is not.
    () => writeFileSync(path, 'of the next file\n'),
    () => interruption.abort(),
  ]
  const next = steps.values()
  const result = await home.run(['agent', 'logs', '--state-dir', '.', '--follow'], {
    interrupted: interruption.signal,
    sleep: async () => next.next().value?.(),
  })
  expect(result).toMatchObject({ stdout: 'one\nzwei: fü\nof the next file\n', stderr: '' })
})
