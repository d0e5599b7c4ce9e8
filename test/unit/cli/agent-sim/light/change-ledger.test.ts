import { expect, test } from 'vitest'
import { createChangeLedger } from '../../../../../src/cli/agent-sim/light/change-ledger.ts'

/** A Domain of four nodes, `a` to `d`, of which those in `closed` have no open stream. */
function domain(closed: readonly number[] = []) {
  const delivered: number[] = []
  let undelivered = 0
  const ledger = createChangeLedger({
    members: () => 4,
    isListening: (member) => !closed.includes(member),
    onDelivered: (ms) => delivered.push(ms),
    onUndelivered: () => (undelivered += 1),
  })
  const change = (endpoint: string, acceptedMs: number) => {
    ledger.announce({ nodeId: 'a', endpoint, by: 0 }).accepted(acceptedMs)
  }
  const receive = (member: number, endpoint: string, nowMs: number) =>
    ledger.receive(member, { nodeId: 'a', endpoint }, nowMs)
  return { ledger, change, receive, delivered, undelivered: () => undelivered }
}

test('a change is delivered when the last other open stream has received it', () => {
  const { change, receive, delivered, ledger } = domain([3])
  change('e1', 1_000)
  expect([receive(1, 'e1', 1_500), delivered]).toEqual([1, []])
  expect([receive(2, 'e1', 3_000), delivered]).toEqual([1, [2_000]])
  expect(ledger.size()).toBe(0)
})

test('a hint covers the former changes of its peer, and counts each change of a stream once', () => {
  const { change, receive, delivered } = domain([3])
  change('e1', 0)
  change('e2', 400)
  expect([receive(1, 'e2', 900), receive(1, 'e1', 950), receive(2, 'e2', 1_000)]).toEqual([2, 0, 2])
  expect(delivered).toEqual([1_000, 600])
})

test('a pull covers the changes that were accepted before its request was sent', () => {
  const { change, ledger, delivered } = domain([2, 3])
  change('e1', 1_000)
  ledger.pulled(1, 999, 1_500)
  expect(delivered).toEqual([])
  ledger.pulled(1, 1_000, 1_600)
  expect(delivered).toEqual([600])
})

test('a hint that arrives before the answer to the change took no time', () => {
  const { ledger, receive, delivered } = domain([2, 3])
  const announced = ledger.announce({ nodeId: 'a', endpoint: 'e1', by: 0 })
  receive(1, 'e1', 900)
  expect(delivered).toEqual([])
  announced.accepted(1_000)
  expect(delivered).toEqual([0])
})

test('a change that a stream has not received after 90 s is counted once, and not waited for', () => {
  const { ledger, change, receive, undelivered, delivered } = domain()
  change('e1', 1_000)
  receive(1, 'e1', 2_000)
  ledger.expire(90_999)
  expect([undelivered(), ledger.size()]).toEqual([0, 1])
  ledger.expire(91_000)
  ledger.expire(92_000)
  receive(2, 'e1', 95_000)
  expect([undelivered(), ledger.size(), delivered]).toEqual([1, 0, []])
})

test('a refused change, and a stream that has ended for good, are not waited for', () => {
  const { ledger, change, receive, delivered } = domain([3])
  ledger.announce({ nodeId: 'b', endpoint: 'e', by: 1 }).refused()
  expect(ledger.size()).toBe(0)
  change('e1', 0)
  receive(1, 'e1', 500)
  ledger.leave(2)
  expect(delivered).toEqual([500])
})

test('a change is not waited for where no other stream is open', () => {
  const { ledger, change } = domain([1, 2, 3])
  change('e1', 0)
  expect(ledger.size()).toBe(0)
})
