import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  executeOnce,
  forgetEnded,
  type ExecutionDeps,
} from '../../../../../src/cli/agent/executions/executions-once.ts'
import { createHookRunner } from '../../../../../src/cli/agent/executions/hook-runner.ts'
import type { DeclaredHook, HookViolation } from '../../../../../src/cli/agent/executions/hooks.ts'
import { realMember, type RealMember } from '../../../../../src/cli/agent/real-member.ts'
import type { TakenExecution, TakenUpgrade } from '../../../../../src/cli/agent/state/agent-state.ts'
import type { PulledExecution } from '../../../../../src/client/agent/state/snapshot.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'
import { agentWorld, id, type AgentWorld } from '../../../../support/fleet/mesh-agents.ts'

const NOW = Date.parse('2026-03-01T00:00:00Z')
const EXPIRES = '2026-03-01T01:00:00Z'
const ID = id(50)

const execution = (more: Partial<PulledExecution> = {}): PulledExecution => ({
  execution_id: ID,
  action: 'ping',
  type: 'builtin',
  status: 'pending',
  requested_at: '2026-02-28T23:59:00Z',
  expires_at: EXPIRES,
  ...more,
})

interface Played {
  readonly member: RealMember
  /** Statuses in the order in which the server got them, each with the stage that was on disk by then. */
  readonly reported: string[]
  readonly sent: { readonly status: string; readonly error?: string; readonly output?: string }[]
  readonly deps: ExecutionDeps
  readonly done: () => Promise<void>
}

function play(stored: Readonly<Record<string, TakenExecution>> = {}): Played {
  const member = realMember(enrolledState({ executions: stored }).enrolment)
  const tasks: Promise<void>[] = []
  const reported: string[] = []
  const sent: Played['sent'] = []
  let onDisk: string | undefined = stored[ID]?.stage
  const agent = {
    clock: { now: () => NOW, random: () => 0, pause: async () => undefined },
    until: new AbortController().signal,
    tasks: { track: (task: Promise<void>) => void tasks.push(task) },
    notProvisioned: new Set(),
    isOutage: () => false,
    statistics: {
      succeeded: () => undefined,
      failed: () => undefined,
      count: () => undefined,
      expected: () => undefined,
    },
    client: {
      PostExecutionCallback: async ({ body }: { readonly body: Played['sent'][number] }) => {
        reported.push(`${body.status}: ${onDisk ?? 'nothing'}`)
        sent.push(body)
      },
    },
    actions: { refused: () => undefined, save: async () => undefined },
  } as unknown as ExecutionDeps['agent']
  const deps: ExecutionDeps = {
    agent,
    save: async () => {
      onDisk = member.executions.get(ID)?.stage
    },
    log: () => undefined,
    runHook: async () => ({ callback: { status: 'succeeded', exit_code: 0, output: 'hook' } }),
    upgrades: {
      perform: async () => undefined,
      isBegun: (executionId) => member.upgrade?.execution_id === executionId,
      outcome: async () => ({ callback: { status: 'succeeded', exit_code: 0, output: member.upgrade?.version ?? '' } }),
    },
    ports: {
      diagnostics: async () => 'é'.repeat(8_000),
      reload: async () => undefined,
      restart: async () => undefined,
    },
  }
  return { member, reported, sent, deps, done: async () => void (await Promise.all(tasks)) }
}

const upgraded: TakenUpgrade = {
  execution_id: ID,
  version: '1.5.0',
  checksum: 'a'.repeat(64),
  former_checksum: 'b'.repeat(64),
  output: '',
}

describe('an execution', () => {
  test('is on disk with each step before the server learns of it', async () => {
    const { member, reported, deps, done } = play()
    executeOnce(deps, member, execution())
    await done()
    expect(reported).toEqual(['ack: taken', 'started: begun', 'succeeded: ended'])
  })

  test('is carried out once, however often it arrives', async () => {
    const { member, reported, deps, done } = play()
    executeOnce(deps, member, execution())
    executeOnce(deps, member, execution())
    await done()
    executeOnce(deps, member, execution({ status: 'started' }))
    await done()
    expect(reported).toHaveLength(3)
  })

  test('that was taken before a restart and not begun is carried out after it', async () => {
    const { member, sent, deps, done } = play({ [ID]: { stage: 'taken', expires_at: EXPIRES } })
    executeOnce(deps, member, execution({ status: 'ack' }))
    await done()
    expect(sent.map(({ status }) => status)).toEqual(['started', 'succeeded'])
  })

  const UPGRADE = { action: 'upgrade_agent', parameters: { version: '1.5.0' } }

  test('that upgrades the agent does not end in the agent that leaves', async () => {
    const { member, sent, deps, done } = play()
    executeOnce(deps, member, execution(UPGRADE))
    await done()
    expect(sent.map(({ status }) => status)).toEqual(['ack', 'started'])
  })

  test.each(['begun', 'ended'] as const)(
    'that upgrades the agent and was %s before ends as the upgrade did',
    async (stage) => {
      const { member, sent, deps, done } = play({ [ID]: { stage, expires_at: EXPIRES } })
      member.upgrade = upgraded
      executeOnce(deps, member, execution({ ...UPGRADE, status: 'started' }))
      await done()
      expect(sent).toMatchObject([{ status: 'succeeded', output: '1.5.0' }])
    },
  )

  test('that upgraded the agent is remembered until the server no longer has it', () => {
    const { member } = play()
    member.upgrade = { ...upgraded, is_confirmed: true }
    forgetEnded(member, new Set([ID]))
    expect(member.upgrade).toBeDefined()
    forgetEnded(member, new Set())
    expect(member.upgrade).toBeUndefined()
    member.upgrade = upgraded
    forgetEnded(member, new Set())
    expect(member.upgrade).toBe(upgraded)
  })

  test.each(['begun', 'ended'] as const)(
    'that was %s before a restart fails, and is not carried out again',
    async (stage) => {
      const { member, sent, deps, done } = play({ [ID]: { stage, expires_at: EXPIRES } })
      executeOnce(deps, member, execution({ status: 'ack' }))
      await done()
      expect(sent).toEqual([
        { status: 'started' },
        expect.objectContaining({ status: 'failed', error: expect.stringContaining('restarted') as string }),
      ])
    },
  )

  test('whose time is over is not begun', async () => {
    const { member, sent, deps, done } = play()
    executeOnce(deps, member, execution({ expires_at: '2026-02-28T23:59:59Z' }))
    await done()
    expect(sent).toEqual([])
  })

  test.each([
    ['no_such_action', 'no action no_such_action'],
    ['toString', 'no action toString'],
  ])('of %s fails with its reason, after every step', async (action, error) => {
    const { member, sent, deps, done } = play()
    executeOnce(deps, member, execution({ action }))
    await done()
    expect(sent.map(({ status }) => status)).toEqual(['ack', 'started', 'failed'])
    expect(sent.at(-1)?.error).toContain(error)
  })

  test.each([
    ['a builtin', { action: 'collect_diagnostics' }],
    ['a hook', { type: 'hook', action: 'backup' }],
  ] as const)('of %s that meets a fault fails with it, and the agent goes on', async (_, asked) => {
    const { member, sent, deps, done } = play()
    const fault = (): never => {
      throw new Error(`no interface ${'é'.repeat(1_000)}`)
    }
    const ports = { ...deps.ports, diagnostics: async () => fault() }
    executeOnce({ ...deps, ports, runHook: async () => fault() }, member, execution(asked))
    await done()
    expect(sent.map(({ status }) => status)).toEqual(['ack', 'started', 'failed'])
    const error = sent.at(-1)?.error ?? ''
    expect([error.startsWith('no interface éé'), Buffer.byteLength(error)]).toEqual([true, 1_023])
    expect(member.cancels.size).toBe(0)
  })

  test('has an output that the server takes, cut between characters', async () => {
    const { member, sent, deps, done } = play()
    executeOnce(deps, member, execution({ action: 'collect_diagnostics' }))
    await done()
    expect(sent.at(-1)?.output).toBe('é'.repeat(4_096))
  })

  test('of a hook is stopped where it is not live any more, and forgotten once it has ended', async () => {
    const { member, sent, deps, done } = play()
    const runHook: ExecutionDeps['runHook'] = (_, signal) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ callback: { status: 'cancelled' } }), { once: true }),
      )
    executeOnce({ ...deps, runHook }, member, execution({ type: 'hook', action: 'backup' }))
    await vi.waitFor(() => expect(member.cancels.size).toBe(1))
    forgetEnded(member, new Set([ID]))
    expect(sent.map(({ status }) => status)).toEqual(['ack', 'started'])
    forgetEnded(member, new Set())
    await done()
    expect(sent.at(-1)?.status).toBe('cancelled')
    forgetEnded(member, new Set())
    expect(member.executions.size).toBe(0)
  })
})

describe('a hook that differs from the declared one', () => {
  const declared: DeclaredHook = { name: 'backup', checksum: 'a'.repeat(64) }
  const unread: HookViolation = {
    kind: 'hook',
    artifact: 'backup',
    expected_checksum: declared.checksum,
    detected_at: '2026-01-01T00:00:00.000Z',
  }
  const violation: HookViolation = { ...unread, observed_checksum: 'b'.repeat(64) }
  let world: AgentWorld | undefined
  afterEach(() => world?.end())

  /** The reported violations, what is found in the folder, and a function that asks for the hook. */
  function watched() {
    const found: DeclaredHook[] = [{ name: 'backup', checksum: 'b'.repeat(64) }]
    const here = agentWorld({ answers: { PostNodeIntegrityViolations: () => undefined } })
    world = here
    const core = {
      hooks: {
        list: async () => ({ hooks: found, refused: [] }),
        run: async () => ({ end: { callback: { status: 'failed' as const } }, violation }),
      },
      member: realMember(enrolledState().enrolment),
      tasks: here.deps.tasks,
      log: { line: () => undefined, close: () => undefined },
      clock: here.clock,
    }
    const run = createHookRunner(core, here.deps, { declared: () => [declared] })
    const ask = () => run(execution({ type: 'hook', action: 'backup' }), new AbortController().signal)
    const reported = () => here.calls.flatMap(({ input }) => (input['body'] as { violations: unknown[] }).violations)
    return { clock: here.clock, found, ask, reported }
  }

  test('is reported once a minute while it lasts, however often it is asked for', async () => {
    const { clock, ask, reported } = watched()
    for (let times = 0; times < 3; times += 1) expect((await ask()).callback.status).toBe('failed')
    await clock.advance(100)
    expect(reported()).toEqual([violation])
    await clock.advance(60_000)
    expect(reported()).toHaveLength(2)
  })

  test('is reported as it is now, until it is the declared one, and again after that', async () => {
    const { clock, found, ask, reported } = watched()
    await ask()
    found.length = 0
    await clock.advance(60_100)
    expect(reported()).toEqual([violation, { ...unread, detected_at: expect.any(String) as string }])
    found.push(declared)
    await clock.advance(60_000)
    expect(reported()).toHaveLength(2)
    await ask()
    await clock.advance(100)
    expect(reported()).toHaveLength(3)
  })
})
