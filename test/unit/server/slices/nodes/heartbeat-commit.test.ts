import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as fc from 'fast-check'
import { createHeartbeatCommit, type HeartbeatCommit } from '../../../../../src/server/slices/nodes/heartbeat-commit.ts'
import { NO_HINTS, type HeartbeatHints } from '../../../../../src/server/slices/nodes/heartbeat-hints.ts'
import type { Heartbeat } from '../../../../../src/server/slices/nodes/heartbeat-queue.ts'
import { DatastoreError } from '../../../../../src/server/ports/datastore.ts'

const beat = (nodeId: string, acceptedAtMs = 1): Heartbeat => ({
  nodeId,
  acceptedAtMs,
  binaryVersion: '1.0.0',
  checksumHex: '00'.repeat(32),
  duePeerRevision: 0,
})

/** A store whose writes end when the test says so. */
function heldStore() {
  const writes: {
    batch: readonly Heartbeat[]
    commit: (missing?: string[]) => void
    fail: (error: unknown) => void
  }[] = []
  const write = (batch: readonly Heartbeat[]) =>
    new Promise<readonly (HeartbeatHints | undefined)[]>((resolve, reject) => {
      const commit = (missing: string[] = []) =>
        resolve(batch.map(({ nodeId }) => (missing.includes(nodeId) ? undefined : NO_HINTS)))
      writes.push({ batch, commit, fail: reject })
    })
  return { writes, write, batches: () => writes.map(({ batch }) => batch.map(({ nodeId }) => nodeId)) }
}

const OPTIONS = { flightsMax: 1, batchMin: 100, batchMax: 100, gatherTurnsMax: 0, callersMax: 1_000, deadlineMs: 5_000 }
/** Two turns: what a turn decides leaves at its end. */
const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
const turn = () => new Promise((resolve) => setImmediate(resolve))
const problemOf = (code: string) => expect.objectContaining({ code })

// What a test leaves under way has no deadline that would pass during another one.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

describe('gathering', () => {
  test('an idle server writes at the end of the turn, with what came in the same turn', async () => {
    const { write, batches } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, flightsMax: 2, write })
    void commit.record(beat('b'))
    void commit.record(beat('a'))
    expect(batches()).toEqual([])
    await settled()
    expect(batches()).toEqual([['a', 'b']])
    void commit.record(beat('c'))
    await settled()
    expect(batches()).toEqual([['a', 'b'], ['c']])
  })

  test('a batch waits while each turn brings more, up to the bound on turns', async () => {
    const { write, batches } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, gatherTurnsMax: 2, write })
    for (const node of ['a', 'b', 'c', 'd']) {
      void commit.record(beat(node))
      await turn()
    }
    expect(batches()).toEqual([['a', 'b', 'c']])
  })

  test('a batch leaves with the first turn that brings nothing', async () => {
    const { write, batches } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, gatherTurnsMax: 100, write })
    void commit.record(beat('a'))
    await turn()
    void commit.record(beat('b'))
    await settled()
    await turn()
    expect(batches()).toEqual([['a', 'b']])
  })

  test('heartbeats gather while a batch is on its way and leave together, by id, the moment it ends', async () => {
    const { write, writes, batches } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, write })
    const first = commit.record(beat('m'))
    await settled()
    const others = [commit.record(beat('z')), commit.record(beat('a')), commit.record(beat('k'))]
    expect(batches()).toEqual([['m']])
    writes[0]?.commit()
    await first
    await settled()
    expect(batches()).toEqual([['m'], ['a', 'k', 'z']])
    writes[1]?.commit()
    expect(await Promise.all(others)).toEqual([NO_HINTS, NO_HINTS, NO_HINTS])
  })

  test('no more batches are on their way at once than allowed', async () => {
    const { write, writes, batches } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, flightsMax: 2, write })
    const answers: Promise<HeartbeatHints | undefined>[] = []
    for (const id of ['a', 'b', 'c', 'd']) {
      answers.push(commit.record(beat(id)))
      await settled()
    }
    expect(batches()).toEqual([['a'], ['b']])
    writes[1]?.commit()
    await settled()
    expect(batches()).toEqual([['a'], ['b'], ['c', 'd']])
    for (const { commit: end } of writes) end()
    expect(await Promise.all(answers)).toEqual([NO_HINTS, NO_HINTS, NO_HINTS, NO_HINTS])
  })

  test('a batch holds no more nodes than allowed; the rest follow in the order of their arrival', async () => {
    const { write, writes, batches } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, batchMax: 2, write })
    const answers = ['e', 'a', 'd', 'c', 'b'].map((id) => commit.record(beat(id)))
    for (let flight = 0; flight < 3; flight++) {
      await settled()
      writes[flight]?.commit()
    }
    expect(batches()).toEqual([['a', 'e'], ['c', 'd'], ['b']])
    expect(await Promise.all(answers)).toEqual([NO_HINTS, NO_HINTS, NO_HINTS, NO_HINTS, NO_HINTS])
  })

  test('flights share out what waits, unless it is too little for two', async () => {
    const { write, batches } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, flightsMax: 2, batchMin: 3, write })
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']) void commit.record(beat(id))
    await settled()
    expect(batches()).toEqual([
      ['a', 'b', 'c', 'd', 'e'],
      ['f', 'g', 'h'],
    ])
  })

  test('a batch that is worth it waits for no more turns', async () => {
    const { write, batches } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, gatherTurnsMax: 100, batchMin: 2, write })
    for (const node of ['a', 'b', 'c']) {
      void commit.record(beat(node))
      await turn()
    }
    expect(batches()).toEqual([['a', 'b']])
  })

  test('of several heartbeats of a node the newest is written, whatever their order, and all callers are answered', async () => {
    const { write, writes } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, write })
    void commit.record(beat('other'))
    await settled()
    const answers = [5, 9, 7].map((at) => commit.record(beat('n', at)))
    writes[0]?.commit()
    await settled()
    expect(writes[1]?.batch).toEqual([beat('n', 9)])
    writes[1]?.commit()
    expect(await Promise.all(answers)).toEqual([NO_HINTS, NO_HINTS, NO_HINTS])
  })
})

describe('answers', () => {
  test('nobody is answered before the write has ended', async () => {
    const { write, writes } = heldStore()
    const answered = vi.fn<() => void>()
    const answer = createHeartbeatCommit({ ...OPTIONS, write }).record(beat('a'))
    void answer.then(answered)
    await settled()
    expect(answered).not.toHaveBeenCalled()
    writes[0]?.commit()
    expect(await answer).toBe(NO_HINTS)
  })

  test('a node that is gone is told to its own callers alone', async () => {
    const { write, writes } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, write })
    void commit.record(beat('first'))
    await settled()
    const answers = ['a', 'gone', 'c', 'gone'].map((id) => commit.record(beat(id)))
    writes[0]?.commit()
    await settled()
    writes[1]?.commit(['gone'])
    expect(await Promise.all(answers)).toEqual([NO_HINTS, undefined, NO_HINTS, undefined])
  })

  test('a row that the datastore refuses fails its own callers alone', async () => {
    const bad = new Error('invalid byte sequence')
    const write = vi.fn(async (batch: readonly Heartbeat[]) => {
      if (batch.some(({ nodeId }) => nodeId === 'bad')) throw bad
      return batch.map(() => NO_HINTS)
    })
    const commit = createHeartbeatCommit({ ...OPTIONS, write })
    const ids = ['first', 'a', 'b', 'bad', 'c', 'd', 'e', 'f']
    const answers = await Promise.allSettled(ids.map((id) => commit.record(beat(id))))
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason))).toEqual([
      NO_HINTS,
      NO_HINTS,
      NO_HINTS,
      bad,
      NO_HINTS,
      NO_HINTS,
      NO_HINTS,
      NO_HINTS,
    ])
  })

  test.each(['unavailable', 'readonly'] as const)(
    'a datastore that is %s fails the batch at once, without a write for each row',
    async (failure) => {
      const down = new DatastoreError(failure, undefined, new Error('gone'))
      const write = vi.fn(() => Promise.reject(down))
      const commit = createHeartbeatCommit({ ...OPTIONS, write })
      const answers = await Promise.allSettled(['a', 'b', 'c', 'd'].map((id) => commit.record(beat(id))))
      expect(answers.map((answer) => answer.status === 'rejected' && answer.reason)).toEqual([down, down, down, down])
      expect(write).toHaveBeenCalledTimes(1)
    },
  )

  test('the server goes on after a failed write', async () => {
    const { write, writes } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, write })
    const failed = commit.record(beat('a'))
    await settled()
    writes[0]?.fail(new Error('no'))
    await expect(failed).rejects.toThrow('no')
    const answer = commit.record(beat('a'))
    await settled()
    writes[1]?.commit()
    expect(await answer).toBe(NO_HINTS)
  })
})

describe('bounds', () => {
  test('a caller beyond the bound is refused, and a place is free again once others are answered', async () => {
    const { write, writes } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, callersMax: 2, write })
    const answers = [commit.record(beat('a')), commit.record(beat('a'))]
    await expect(commit.record(beat('b'))).rejects.toEqual(problemOf('datastore_unavailable'))
    await settled()
    writes[0]?.commit()
    expect(await Promise.all(answers)).toEqual([NO_HINTS, NO_HINTS])
    const next = commit.record(beat('b'))
    await settled()
    writes[1]?.commit()
    expect(await next).toBe(NO_HINTS)
  })

  describe('with a clock that the test moves', () => {
    test('a write that hangs costs its callers and those behind it one and a half deadlines, and no more', async () => {
      const { write } = heldStore()
      const commit = createHeartbeatCommit({ ...OPTIONS, write })
      const first = commit.record(beat('a'))
      await settled()
      const answers = Promise.allSettled([first, commit.record(beat('b'))])
      vi.advanceTimersByTime(7_500)
      const late = { status: 'rejected', reason: problemOf('datastore_unavailable') }
      expect(await answers).toEqual([late, late])
    })

    test('nobody is given up before the deadline', async () => {
      const { write, writes } = heldStore()
      const commit = createHeartbeatCommit({ ...OPTIONS, write })
      const first = commit.record(beat('a'))
      await settled()
      vi.advanceTimersByTime(2_400)
      const second = commit.record(beat('b'))
      vi.advanceTimersByTime(4_900)
      writes[0]?.commit()
      expect(await first).toBe(NO_HINTS)
      await settled()
      writes[1]?.commit()
      expect(await second).toBe(NO_HINTS)
    })

    test('a late write of callers given up is ignored, and the next batch leaves', async () => {
      const { write, writes, batches } = heldStore()
      const commit = createHeartbeatCommit({ ...OPTIONS, write })
      const late = commit.record(beat('a'))
      const refused = expect(late).rejects.toEqual(problemOf('datastore_unavailable'))
      await settled()
      vi.advanceTimersByTime(7_500)
      await refused
      const answer = commit.record(beat('b'))
      writes[0]?.commit()
      await settled()
      expect(batches()).toEqual([['a'], ['b']])
      writes[1]?.commit()
      expect(await answer).toBe(NO_HINTS)
    })

    test('an idle server keeps no timer', async () => {
      const { write, writes } = heldStore()
      const answer = createHeartbeatCommit({ ...OPTIONS, write }).record(beat('a'))
      await settled()
      expect(vi.getTimerCount()).toBe(1)
      writes[0]?.commit()
      await answer
      await settled()
      expect(vi.getTimerCount()).toBe(0)
    })
  })
})

describe('draining', () => {
  test('what has been gathered is written, then the server is still; new heartbeats are refused', async () => {
    const { write, writes, batches } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, write })
    const first = commit.record(beat('a'))
    await settled()
    const answers = [first, commit.record(beat('b'))]
    const isDrained = vi.fn<() => void>()
    const drained = commit.drain().then(isDrained)
    await expect(commit.record(beat('c'))).rejects.toEqual(problemOf('shutting_down'))
    writes[0]?.commit()
    await settled()
    expect(isDrained).not.toHaveBeenCalled()
    writes[1]?.commit()
    await drained
    expect(await Promise.all(answers)).toEqual([NO_HINTS, NO_HINTS])
    expect(batches()).toEqual([['a'], ['b']])
  })

  test('what came in the turn of the drain is written', async () => {
    const { write, writes } = heldStore()
    const commit = createHeartbeatCommit({ ...OPTIONS, write })
    const answer = commit.record(beat('a'))
    const drained = commit.drain()
    await settled()
    writes[0]?.commit()
    await drained
    expect(await answer).toBe(NO_HINTS)
  })

  test('an idle server is drained at once', async () => {
    await expect(createHeartbeatCommit({ ...OPTIONS, write: heldStore().write }).drain()).resolves.toBeUndefined()
  })
})

test('whatever fails, every caller is answered once, rightly, and the newest heartbeat of each good node is stored', async () => {
  const nodes = ['a', 'b', 'c', 'd', 'e', 'f']
  const scenario = fc.record({
    calls: fc.array(fc.tuple(fc.constantFrom(...nodes), fc.integer({ min: 1, max: 50 })), {
      minLength: 1,
      maxLength: 40,
    }),
    gone: fc.subarray(nodes),
    bad: fc.subarray(nodes),
    flightsMax: fc.integer({ min: 1, max: 3 }),
    batchMin: fc.integer({ min: 1, max: 4 }),
    batchMax: fc.integer({ min: 1, max: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(scenario, async ({ calls, gone, bad, flightsMax, batchMin, batchMax }) => {
      const stored = new Map<string, number>()
      const toldTo = (id: string) =>
        gone.includes(id) ? undefined : { reconcile: id > 'c', rotate_keys: 'ace'.includes(id) }
      const write = async (batch: readonly Heartbeat[]): Promise<readonly (HeartbeatHints | undefined)[]> => {
        const ids = batch.map(({ nodeId }) => nodeId)
        expect(ids).toEqual([...new Set(ids)].toSorted())
        await settled()
        if (ids.some((id) => bad.includes(id))) throw new Error('bad row')
        for (const { nodeId, acceptedAtMs } of batch) {
          if (!gone.includes(nodeId)) stored.set(nodeId, Math.max(acceptedAtMs, stored.get(nodeId) ?? 0))
        }
        return ids.map(toldTo)
      }
      const commit: HeartbeatCommit = createHeartbeatCommit({ ...OPTIONS, flightsMax, batchMin, batchMax, write })
      const answers = await Promise.allSettled(calls.map(([id, at]) => commit.record(beat(id, at))))
      calls.forEach(([id], index) => {
        const answer = answers[index]
        if (bad.includes(id)) expect(answer?.status).toBe('rejected')
        else expect(answer).toEqual({ status: 'fulfilled', value: toldTo(id) })
      })
      for (const id of nodes.filter((node) => !bad.includes(node) && !gone.includes(node))) {
        const sent = calls.filter(([node]) => node === id).map(([, at]) => at)
        expect(stored.get(id)).toBe(sent.length === 0 ? undefined : Math.max(...sent))
      }
    }),
    { numRuns: 200 },
  )
})
