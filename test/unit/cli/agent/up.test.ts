import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { placeOf } from '../../../../src/cli/agent/place.ts'
import { takeLock, type ProcessLock } from '../../../../src/cli/agent/process/process-lock.ts'
import { readState, writeState } from '../../../../src/cli/agent/state/state-file.ts'
import { hasNetAdmin } from '../../../../src/cli/agent/system/privileges.ts'
import { enrolledState } from '../../../support/agent/agent-state.ts'
import { createCliHome, type CliHome } from '../../../support/cli/cli-run.ts'

const isAllowed = process.platform === 'linux' && hasNetAdmin()
const RUNS = `The agent runs already, as process ${process.pid}.\n`

describe.skipIf(!isAllowed)('"agent up" where the agent runs', () => {
  let home: CliHome
  let lock: ProcessLock
  const state = enrolledState()
  const place = () => placeOf(join(home.home, 'state'))
  const up = (...flags: readonly string[]) => home.run(['agent', 'up', '--state-dir', 'state', ...flags])

  beforeEach(async () => {
    home = createCliHome()
    mkdirSync(place().directory, { mode: 0o700 })
    await writeState(place().state, state)
    lock = await takeLock(place().lock)
  })
  afterEach(async () => {
    await lock.release()
    home.remove()
  })

  test('says so, also with the flags of the first time', async () => {
    const same = ['--server', `${state.server.url}/`, '--interface', 'ctl0', '--no-names']
    for (const flags of [[], same]) expect(await up(...flags)).toMatchObject({ exitCode: 0, stderr: RUNS })
  })

  test('warns that other flags change nothing', async () => {
    expect(await up('--mtu', '1300')).toMatchObject({
      exitCode: 0,
      stderr: `${RUNS}warning: its settings stay as they are: run "ctl agent down", then this command again\n`,
    })
    expect(await readState(place().state)).toEqual(state)
  })

  test('refuses another server', async () => {
    expect(await up('--server', 'https://other.example.org')).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining(`is a node of ${state.server.url}, not of https://other.example.org`) as string,
    })
  })
})
