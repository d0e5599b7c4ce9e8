import { expect, test } from 'vitest'
import { release } from '../../../../src/cli/agent-sim/workers/release.ts'

function workerOf() {
  const sent: unknown[] = []
  return {
    sent,
    child: { connected: true, send: (message: unknown) => sent.push(message) },
    isReady: false,
    isReleased: false,
  }
}

test('workers are released together, and none of them twice', () => {
  const [first, second] = [workerOf(), workerOf()]
  const workers = [first, second]

  first.isReady = true
  release(workers)
  expect([first.sent, second.sent]).toEqual([[], []])

  second.isReady = true
  release(workers)
  expect([first.sent, second.sent]).toEqual([[{ kind: 'go' }], [{ kind: 'go' }]])

  // The first has ended; the second is about to, and a message to it would be an error of its process.
  first.child.connected = false
  release(workers)
  expect([first.sent, second.sent]).toEqual([[{ kind: 'go' }], [{ kind: 'go' }]])
})

test('a worker that ended before it was ready holds up none of the others', () => {
  const [first, second] = [workerOf(), workerOf()]
  first.child.connected = false
  second.isReady = true
  release([first, second])
  expect([first.sent, second.sent]).toEqual([[], [{ kind: 'go' }]])
})
