import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { machineArchitecture } from '../../../../../src/cli/agent/capabilities.ts'
import { realMember } from '../../../../../src/cli/agent/real-member.ts'
import type { ProgramFile } from '../../../../../src/cli/agent/upgrade/program-file.ts'
import { createUpgrades } from '../../../../../src/cli/agent/upgrade/upgrades.ts'
import type { PulledExecution } from '../../../../../src/client/agent/state/snapshot.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'
import { agentWorld, id, type AgentWorld } from '../../../../support/fleet/mesh-agents.ts'

const NEW = 'a'.repeat(64)
const FORMER = 'b'.repeat(64)
const EXECUTION: PulledExecution = {
  execution_id: id(50),
  action: 'upgrade_agent',
  type: 'builtin',
  status: 'started',
  requested_at: '2025-12-31T23:59:00Z',
  expires_at: '2026-01-01T00:01:00Z',
  parameters: { version: '1.5.0' },
}

/** The upgrade program needs a folder of which root alone can change every parent; /tmp is not one. */
describe.skipIf(process.getuid?.() !== 0)('an upgrade, as root', () => {
  let folder: string
  let world: AgentWorld
  let released: string

  beforeEach(() => {
    folder = mkdtempSync('/run/ctl-upgrade-test-')
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'upgrade'), '#!/bin/sh\necho brought $1\n')
    chmodSync(join(folder, 'upgrade'), 0o755)
    released = NEW
    world = agentWorld({
      answers: {
        GetPlexdArtifact: () => ({
          version: '1.5.0',
          verdict: 'verified',
          support_status: 'supported',
          architectures: [{ architecture: machineArchitecture(), checksum: released }],
        }),
      },
    })
  })
  afterEach(() => {
    world.end()
    rmSync(folder, { recursive: true, force: true })
  })

  interface Situation {
    readonly running?: { readonly version: string; readonly checksum: string }
    readonly faultOf?: ProgramFile['faultOf']
  }

  function opened({ running = { version: '1.4.0', checksum: FORMER }, faultOf }: Situation = {}) {
    const member = realMember(enrolledState().enrolment)
    const done: string[] = []
    const upgrades = createUpgrades({
      core: {
        member,
        binary: async () => running,
        clock: world.clock,
        log: { line: () => undefined, close: () => undefined },
        keeper: { save: async () => undefined, saveSoon: () => undefined, fault: () => undefined },
        upgrading: {
          folder,
          file: {
            path: '/opt/ctl-agent.cjs',
            checksum: async () => NEW,
            keep: async () => void done.push('kept'),
            restore: async () => void done.push('restored'),
            faultOf: faultOf ?? (async () => undefined),
          },
          isWatched: () => false,
          isOrphan: () => false,
        },
      },
      agent: world.deps,
      stop: (how) => void done.push(how),
    })
    return { member, upgrades, done, signal: new AbortController().signal }
  }

  test('ends the agent for a start of the new one, and has no end of its own', async () => {
    const { member, upgrades, done, signal } = opened()
    expect(await upgrades.perform(EXECUTION, signal)).toBeUndefined()
    expect(done).toEqual(['kept', 'upgrade'])
    expect(member.upgrade).toMatchObject({ checksum: NEW, former_checksum: FORMER, output: 'brought 1.5.0\n' })
  }, 30_000)

  test('runs nothing where the checksum of the release is none', async () => {
    released = `${NEW}\n`
    const { upgrades, done, signal } = opened()
    expect(await upgrades.perform(EXECUTION, signal)).toMatchObject({
      callback: { status: 'failed', error: 'the checksum of release 1.5.0 is no SHA-256 in 64 hex digits' },
    })
    expect(done).toEqual([])
  }, 30_000)

  test('brings the former file back where looking at the new one fails, and lets another upgrade begin', async () => {
    const faultOf = async (): Promise<never> => {
      throw new Error('node did not end within 60 s and was killed.')
    }
    const { upgrades, done, signal } = opened({ faultOf })
    const end = { callback: { status: 'failed', error: 'node did not end within 60 s and was killed.' } }
    expect(await upgrades.perform(EXECUTION, signal)).toMatchObject(end)
    expect(done).toEqual(['kept', 'restored'])
    expect(await upgrades.perform(EXECUTION, signal)).toMatchObject(end)
  }, 30_000)

  test('that is given up after its program has ended brings the former file back', async () => {
    const giveUp = new AbortController()
    const { upgrades, done } = opened({
      faultOf: async () => {
        giveUp.abort()
        return undefined
      },
    })
    expect(await upgrades.perform(EXECUTION, giveUp.signal)).toMatchObject({
      callback: { status: 'cancelled', output: 'brought 1.5.0\n' },
    })
    expect(done).toEqual(['kept', 'restored'])
  }, 30_000)

  test.each([
    ['does nothing where the release runs already', { version: '1.5.0', checksum: NEW }, []],
    [
      'starts a release whose file is there while another version runs',
      { version: '1.4.0', checksum: NEW },
      ['kept', 'upgrade'],
    ],
  ])(
    '%s',
    async (_, running, expected) => {
      const { upgrades, done, signal } = opened({ running })
      const end = await upgrades.perform(EXECUTION, signal)
      expect([end?.callback.status, done]).toEqual([expected.length === 0 ? 'succeeded' : undefined, expected])
    },
    30_000,
  )

  test('that the server has ended meanwhile has no end to report', async () => {
    const { member, upgrades, signal } = opened()
    await upgrades.perform(EXECUTION, signal)
    const outcome = upgrades.outcome()
    member.upgrade = undefined
    await world.clock.advance(1_000)
    expect(await outcome).toBeUndefined()
  }, 30_000)
})
