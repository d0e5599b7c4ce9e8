import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { placeOf, type Place } from '../../../../../src/cli/agent/place.ts'
import type { TakenUpgrade } from '../../../../../src/cli/agent/state/agent-state.ts'
import { readState, writeState } from '../../../../../src/cli/agent/state/state-file.ts'
import { watchTrial } from '../../../../../src/cli/agent/upgrade/watch-trial.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'

const UPGRADE: TakenUpgrade = {
  execution_id: 'e',
  version: '1.5.0',
  checksum: 'a'.repeat(64),
  former_checksum: 'b'.repeat(64),
  output: '',
}
const CONFIRM = `
const fs = require('node:fs')
const state = JSON.parse(fs.readFileSync(process.argv[1], 'utf8'))
state.enrolment.upgrade.is_confirmed = true
fs.writeFileSync(process.argv[1] + '.next', JSON.stringify(state), { mode: 0o600 })
fs.renameSync(process.argv[1] + '.next', process.argv[1])
`
const FORGET = CONFIRM.replace('state.enrolment.upgrade.is_confirmed = true', 'delete state.enrolment.upgrade')
const STAY = 'setInterval(() => undefined, 1000);'

describe('a trial of a new agent', () => {
  let place: Place
  const lines: string[] = []
  let restored = 0
  let child: ChildProcess | undefined

  beforeEach(async () => {
    place = placeOf(mkdtempSync(join(tmpdir(), 'ctl-trial-')))
    lines.length = 0
    restored = 0
    await writeState(place.state, enrolledState({ upgrade: UPGRADE }))
  })
  afterEach(() => {
    child?.kill('SIGKILL')
    rmSync(place.directory, { recursive: true, force: true })
  })

  const watch = (script: string, more: { readonly trialMs?: number; readonly interrupted?: AbortSignal } = {}) =>
    watchTrial({
      place,
      file: { restore: async () => void (restored += 1) },
      log: { line: (line) => void lines.push(line), close: () => undefined },
      interrupted: new AbortController().signal,
      start: () => (child = spawn(process.execPath, ['-e', script, place.state], { stdio: 'ignore' })),
      ...more,
    })
  const failure = async () => (await readState(place.state))?.enrolment?.upgrade?.failure

  test('that has reported ends, so that the agent is started from its file', async () => {
    expect(await watch(STAY + CONFIRM)).toBe('again')
    expect([restored, await failure(), child?.signalCode]).toEqual([0, undefined, 'SIGTERM'])
  }, 30_000)

  test('that has reported, and of which the server knows that, ends as well, and keeps its file', async () => {
    expect(await watch(STAY + FORGET)).toBe('again')
    expect([restored, child?.signalCode]).toEqual([0, 'SIGTERM'])
  }, 30_000)

  test('that ends before it has reported brings the former file back, and the reason is kept', async () => {
    expect(await watch('process.exit(3)')).toBe('again')
    expect([restored, await failure()]).toEqual([1, 'the new agent ended with 3 before it had reported'])
    expect(lines).toEqual(['upgrade: undone, since the new agent ended with 3 before it had reported'])
  }, 30_000)

  test('that does not report in time ends, and brings the former file back', async () => {
    expect(await watch(STAY, { trialMs: 500 })).toBe('again')
    expect([restored, await failure(), child?.signalCode]).toEqual([
      1,
      'the new agent did not report within 0.5 s',
      'SIGTERM',
    ])
  }, 30_000)

  test.each([
    [4, 'was refused by its server'],
    [143, 'was asked to start again'],
  ])(
    'that ends with %d, since it %s, keeps its file and is not started again here',
    async (exitCode) => {
      expect(await watch(`process.exit(${exitCode})`)).toBe(exitCode)
      expect([restored, await failure()]).toEqual([0, undefined])
    },
    30_000,
  )

  test('that is taken down before it has reported keeps its file and is not started again here', async () => {
    expect(await watch(CONFIRM.replace('is_confirmed', 'is_ended'))).toBe(0)
    expect([restored, await failure()]).toEqual([0, undefined])
  }, 30_000)

  test('that ends with 0 by itself before it has reported brings the former file back', async () => {
    expect(await watch('process.exit(0)')).toBe('again')
    expect([restored, await failure()]).toEqual([1, 'the new agent ended with 0 before it had reported'])
  }, 30_000)

  test('that is interrupted ends, and keeps its file', async () => {
    expect(await watch(STAY, { interrupted: AbortSignal.timeout(500) })).toBe(0)
    expect([restored, await failure(), child?.signalCode]).toEqual([0, undefined, 'SIGTERM'])
  }, 30_000)
})
