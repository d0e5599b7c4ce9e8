import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { placeOf, type Place } from '../../../../../src/cli/agent/place.ts'
import type { TakenUpgrade } from '../../../../../src/cli/agent/state/agent-state.ts'
import { writeState } from '../../../../../src/cli/agent/state/state-file.ts'
import { startTimeOf } from '../../../../../src/cli/agent/system/process-start.ts'
import { lockAfterTrial } from '../../../../../src/cli/agent/upgrade/lock-after-trial.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'

const UPGRADE: TakenUpgrade = {
  execution_id: 'e',
  version: '1.5.0',
  checksum: 'a'.repeat(64),
  former_checksum: 'b'.repeat(64),
  output: '',
}

describe('an agent that starts while another one has the lock', () => {
  let place: Place
  let holder: ChildProcess

  beforeEach(() => {
    place = placeOf(mkdtempSync(join(tmpdir(), 'ctl-lock-')))
    holder = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' })
    const pid = holder.pid ?? 0
    writeFileSync(place.lock, `${pid} ${startTimeOf(pid) ?? ''}\n`)
  })
  afterEach(() => {
    holder.kill('SIGKILL')
    rmSync(place.directory, { recursive: true, force: true })
  })

  test('as a service waits for the end of one on trial', async () => {
    await writeState(place.state, enrolledState({ upgrade: UPGRADE }))
    let isTaken = false
    const taking = lockAfterTrial(place, { isService: true }).then((lock) => {
      isTaken = true
      return lock
    })
    // The first tries are refused: it is still there.
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(isTaken).toBe(false)
    holder.kill('SIGKILL')
    await (await taking).release()
  }, 60_000)

  test.each([
    ['as a service where no upgrade is open', true, undefined],
    ['as a service where the upgrade is over', true, { ...UPGRADE, is_confirmed: true }],
    ['without a service manager', false, UPGRADE],
  ])('is refused at once %s', async (_, isService, upgrade) => {
    await writeState(place.state, enrolledState({ upgrade }))
    await expect(lockAfterTrial(place, { isService })).rejects.toMatchObject({ code: 'agent_running' })
  })

  test('as a service is refused where one on trial does not end', async () => {
    await writeState(place.state, enrolledState({ upgrade: UPGRADE }))
    const taking = lockAfterTrial(place, { isService: true, waitMsMax: 300 })
    await expect(taking).rejects.toMatchObject({ code: 'agent_running' })
  })
})
