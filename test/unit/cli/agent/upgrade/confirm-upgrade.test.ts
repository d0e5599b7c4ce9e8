import { describe, expect, test } from 'vitest'
import { realMember } from '../../../../../src/cli/agent/real-member.ts'
import type { TakenUpgrade } from '../../../../../src/cli/agent/state/agent-state.ts'
import {
  confirmUpgrade,
  endOrphan,
  TRIAL_MS,
  type ConfirmDeps,
} from '../../../../../src/cli/agent/upgrade/confirm-upgrade.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'

const NEW = 'a'.repeat(64)
const FORMER = 'b'.repeat(64)
const UPGRADE: TakenUpgrade = {
  execution_id: 'e',
  version: '1.5.0',
  checksum: NEW,
  former_checksum: FORMER,
  output: '',
}

interface Situation {
  readonly running?: string
  readonly upgrade?: TakenUpgrade
  /** From that time on the server takes reports, in ms after the start. */
  readonly takenFromMs?: number
  readonly isWatched?: (nowMs: number) => boolean
  readonly isOrphan?: (nowMs: number) => boolean
}

async function play(situation: Situation, work: (deps: ConfirmDeps) => Promise<void> = confirmUpgrade) {
  const { running = NEW, upgrade = UPGRADE, takenFromMs = 0 } = situation
  const member = realMember(enrolledState({ upgrade }).enrolment)
  const ending = new AbortController()
  let [nowMs, restored, saved] = [0, 0, 0]
  const stops: string[] = []
  const deps: ConfirmDeps = {
    core: {
      member,
      ending,
      binary: async () => ({ version: '1.5.0', checksum: running }),
      clock: {
        now: () => nowMs,
        random: () => 0,
        pause: async (ms: number) => void (nowMs += ms),
      },
      log: { line: () => undefined, close: () => undefined },
      keeper: { save: async () => void (saved += 1), saveSoon: () => undefined, fault: () => undefined },
      upgrading: {
        file: {
          path: '/opt/ctl-agent.cjs',
          checksum: async () => undefined,
          keep: async () => undefined,
          restore: async () => void (restored += 1),
          faultOf: async () => undefined,
        },
        isWatched: () => situation.isWatched?.(nowMs) ?? false,
        isOrphan: () => situation.isOrphan?.(nowMs) ?? false,
      },
    },
    capabilities: { report: async () => nowMs >= takenFromMs },
    stop: (how) => {
      stops.push(how)
      ending.abort()
    },
  }
  await work(deps)
  return { upgrade: member.upgrade, stops, restored, saved, nowMs }
}

describe('an upgraded agent', () => {
  test('is confirmed once the server has its report, and stays', async () => {
    expect(await play({ takenFromMs: 20_000 })).toMatchObject({
      upgrade: { is_confirmed: true },
      stops: [],
      restored: 0,
      saved: 1,
    })
  })

  test('that cannot report in time brings the former one back by itself', async () => {
    expect(await play({ takenFromMs: Infinity })).toMatchObject({
      upgrade: { failure: `the new agent did not report within ${TRIAL_MS / 1000} s` },
      stops: ['restart'],
      restored: 1,
      saved: 1,
    })
  })

  test('that is watched leaves its end to the one that watches', async () => {
    const late = 2 * TRIAL_MS
    expect(await play({ takenFromMs: late, isWatched: (nowMs) => nowMs <= late })).toMatchObject({
      upgrade: { is_confirmed: true },
      stops: [],
      restored: 0,
    })
  })

  test('of a service ends when the one that watched has ended, whatever becomes of its report', async () => {
    const isWatched = (nowMs: number): boolean => nowMs < 5_000
    const situation = { isWatched, isOrphan: (nowMs: number) => !isWatched(nowMs) }
    expect(await play(situation, endOrphan)).toMatchObject({ stops: ['stopped'], restored: 0, nowMs: 5_000 })
  })

  test('without a service manager goes on when the one that watched has ended', async () => {
    expect(await play({ isWatched: (nowMs) => nowMs < 5_000 }, endOrphan)).toMatchObject({ stops: [], nowMs: 5_000 })
  })
})

describe('the agent before an upgrade', () => {
  test('that was restarted during it goes on, and the upgrade has failed', async () => {
    expect(await play({ running: FORMER })).toMatchObject({
      upgrade: { failure: 'the agent was restarted while it was upgraded' },
      stops: [],
      restored: 1,
    })
  })

  test('comes back where neither of both files runs', async () => {
    expect(await play({ running: 'c'.repeat(64) })).toMatchObject({ stops: ['restart'], restored: 1 })
  })

  test.each([[{ ...UPGRADE, is_confirmed: true }], [{ ...UPGRADE, failure: 'x' }]])(
    'does nothing for an upgrade that is over',
    async (upgrade) => {
      expect(await play({ upgrade })).toEqual({ upgrade, stops: [], restored: 0, saved: 0, nowMs: 0 })
    },
  )
})
