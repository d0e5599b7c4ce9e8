import { describe, expect, test } from 'vitest'
import { createStateKeeper } from '../../../../../src/cli/agent/state/state-keeper.ts'

interface Played {
  readonly keeper: ReturnType<typeof createStateKeeper>
  readonly writes: number[]
  readonly lines: string[]
  /** Makes the next writes fail. */
  readonly fail: (times: number) => void
  readonly change: () => void
}

function play(): Played {
  let [version, failures] = [0, 0]
  const writes: number[] = []
  const lines: string[] = []
  const keeper = createStateKeeper({
    write: async () => {
      await Promise.resolve()
      if (failures > 0) {
        failures -= 1
        throw new Error('agent.json could not be written: ENOSPC')
      }
      writes.push(version)
    },
    log: { line: (text) => void lines.push(text), close: () => undefined },
    clock: { now: () => 0, random: () => 0, pause: async () => undefined },
    tasks: {
      track: () => undefined,
      schedule: (_, task) => void task(),
      isIdle: () => true,
      cancelScheduled: () => undefined,
      done: async () => undefined,
      failed: new Promise(() => undefined),
    },
    until: new AbortController().signal,
  })
  return { keeper, writes, lines, fail: (times) => void (failures = times), change: () => void (version += 1) }
}

describe('the state of a running agent', () => {
  test('is durable once a save resolves, with every change before it', async () => {
    const { keeper, writes, change } = play()
    const first = keeper.save()
    change()
    await keeper.save()
    await first
    expect(writes.at(-1)).toBe(1)
  })

  test('is written again until the disk takes it, is logged once, and shows as a fault meanwhile', async () => {
    const { keeper, writes, lines, fail } = play()
    fail(3)
    const saving = keeper.save()
    await Promise.resolve()
    await Promise.resolve()
    await Promise.resolve()
    expect(keeper.fault()).toContain('ENOSPC')
    await saving
    expect(writes).toHaveLength(1)
    expect(keeper.fault()).toBeUndefined()
    expect(lines).toEqual([
      'state: agent.json could not be written: ENOSPC; the agent goes on and tries again',
      'state: written again',
    ])
  })
})
