import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lookAtState } from '../../../../../src/cli/agent/doctor/look-at-state.ts'
import { placeOf, type Place } from '../../../../../src/cli/agent/place.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'

describe('the doctor on the files of an agent', () => {
  let place: Place

  const write = (state: unknown, mode = 0o600) => writeFileSync(place.state, JSON.stringify(state), { mode })
  const found = async () =>
    (await lookAtState(place)).findings.map(({ check, status, advice }) => [check, status, advice])

  beforeEach(() => {
    place = placeOf(mkdtempSync(join(tmpdir(), 'ctl-doctor-')))
  })
  afterEach(() => rmSync(place.directory, { recursive: true, force: true }))

  test('accepts those of an enrolled node', async () => {
    write(enrolledState())
    expect(await found()).toEqual([
      ['folder', 'ok', ''],
      ['state', 'ok', ''],
      ['enrolment', 'ok', ''],
    ])
  })

  test('finds no agent on a machine without a state folder, and says how to enrol one with an empty folder', async () => {
    expect(await found()).toEqual([
      ['folder', 'ok', ''],
      [
        'enrolment',
        'warning',
        'ctl agent up --server URL --join-token-file FILE, with a token of "ctl join-tokens create"',
      ],
    ])
    rmSync(place.directory, { recursive: true })
    expect(await found()).toEqual([
      [
        'agent',
        'problem',
        'Name the folder of another agent with --state-dir, or enrol this machine: ctl agent up --server URL --join-token-file FILE',
      ],
    ])
  })

  test('refuses keys that others can read, or could replace', async () => {
    write(enrolledState(), 0o644)
    chmodSync(place.state, 0o644)
    expect(await found()).toContainEqual([
      'state',
      'problem',
      `chmod 600 ${place.state}, and enrol the node again if others may have read it.`,
    ])
    chmodSync(place.directory, 0o777)
    expect(await found()).toEqual([['folder', 'problem', `chmod 700 ${place.directory}`]])
  })

  test.each([
    ['nsk_revoked', 'ctl join-tokens create --node web-1'],
    ['unauthorized', 'ctl join-tokens create'],
  ])('has the way out of a key that was refused with %s', async (code, token) => {
    write(enrolledState({ refused: { code, at: '2026-02-01T12:00:00.000Z' } }))
    expect(await found()).toContainEqual([
      'enrolment',
      'problem',
      `Make a token with "${token}", and run "ctl agent up --join-token-file FILE".`,
    ])
  })
})
