import { beforeEach, describe, expect, test } from 'vitest'
import { createHookRunner } from '../../../../../src/cli/agent/executions/hook-runner.ts'
import type { DeclaredHook } from '../../../../../src/cli/agent/executions/hooks.ts'
import { realMember } from '../../../../../src/cli/agent/real-member.ts'
import type { AgentDeps } from '../../../../../src/client/agent/agent-deps.ts'
import type { PulledExecution } from '../../../../../src/client/agent/state/snapshot.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'

const NOW = Date.parse('2026-03-01T00:00:00Z')
const DECLARED: DeclaredHook = { name: 'backup', checksum: 'a'.repeat(64) }

describe('a hook that is not the declared one', () => {
  let declared: readonly DeclaredHook[]
  /** The folder of hooks; an error where it cannot be read. */
  let found: readonly DeclaredHook[] | Error
  let reported: unknown[]
  let scheduled: (() => Promise<void>)[]
  let running: Promise<void>[]
  let execute: () => Promise<unknown>

  const minutePasses = async (): Promise<void> => {
    const due = scheduled.splice(0)
    await Promise.all(due.map((task) => task()))
    await Promise.all(running)
  }

  beforeEach(() => {
    declared = [DECLARED]
    found = [{ ...DECLARED, checksum: 'b'.repeat(64) }]
    ;[reported, scheduled, running] = [[], [], []]
    const clock = { now: () => NOW, random: () => 0, pause: async () => undefined }
    const tasks = {
      track: (task: Promise<void>) => void running.push(task),
      schedule: (_: number, task: () => Promise<void>) => void scheduled.push(task),
    }
    const statistics = {
      succeeded: () => undefined,
      failed: () => undefined,
      count: () => undefined,
      expected: () => undefined,
    }
    const client = {
      PostNodeIntegrityViolations: async ({ body }: { readonly body: { readonly violations: readonly unknown[] } }) =>
        void reported.push(...body.violations),
    }
    const until = new AbortController().signal
    const agent = { clock, tasks, statistics, client, until, notProvisioned: new Set(), isOutage: () => false }
    const list = async () => {
      if (found instanceof Error) throw found
      return { hooks: found, refused: [] }
    }
    const run = createHookRunner(
      {
        hooks: {
          list,
          run: async () => ({
            end: { callback: { status: 'failed' } },
            violation: {
              kind: 'hook',
              artifact: 'backup',
              expected_checksum: declared[0]?.checksum ?? '',
              detected_at: '2026-02-28T00:00:00.000Z',
            },
          }),
        },
        member: realMember(enrolledState().enrolment),
        // Only what the runner calls.
        tasks: tasks as unknown as AgentDeps['tasks'],
        log: { line: () => undefined, close: () => undefined },
        clock,
      },
      agent as unknown as AgentDeps,
      { declared: () => declared },
    )
    execute = async () => {
      await run({ action: 'backup', type: 'hook' } as PulledExecution, until)
      await Promise.all(running)
    }
  })

  test('is reported once a minute while it lasts, however many executions name it', async () => {
    await execute()
    await execute()
    expect(reported).toHaveLength(1)
    await minutePasses()
    expect(reported).toHaveLength(2)
    expect(reported[1]).toEqual({
      kind: 'hook',
      artifact: 'backup',
      expected_checksum: 'a'.repeat(64),
      observed_checksum: 'b'.repeat(64),
      detected_at: '2026-03-01T00:00:00.000Z',
    })
  })

  test('is not reported any more once it is as declared, and again when it differs once more', async () => {
    await execute()
    found = [DECLARED]
    await minutePasses()
    expect([reported.length, scheduled.length]).toEqual([1, 0])
    await execute()
    expect(reported).toHaveLength(2)
  })

  test('is reported at once where another one was declared meanwhile', async () => {
    await execute()
    declared = [{ ...DECLARED, checksum: 'c'.repeat(64) }]
    await execute()
    expect(reported).toHaveLength(2)
    await minutePasses()
    expect([reported.length, scheduled.length]).toEqual([3, 1])
  })

  test('is reported on where the folder cannot be read', async () => {
    await execute()
    found = new Error('EIO: i/o error, read')
    await minutePasses()
    expect(reported).toHaveLength(2)
    expect(reported[1]).not.toHaveProperty('observed_checksum')
  })
})
