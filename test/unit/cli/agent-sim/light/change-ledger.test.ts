import { expect, test } from 'vitest'
import { createChangeLedger } from '../../../../../src/cli/agent-sim/light/change-ledger.ts'

/** A Domain of four nodes, `a` to `d`, of which those in `closed` have no open stream. */
function domain(closed: readonly number[] = []) {
  const heard: number[] = []
  let unheard = 0
  const ledger = createChangeLedger({
    members: () => 4,
    isListening: (member) => !closed.includes(member),
    onHeard: (ms) => heard.push(ms),
    onUnheard: () => (unheard += 1),
  })
  const change = (endpoint: string, acceptedMs: number) => {
    ledger.announce({ nodeId: 'a', endpoint, by: 0 }).accepted(acceptedMs)
  }
  const hear = (member: number, endpoint: string, nowMs: number) =>
    ledger.hear(member, { nodeId: 'a', endpoint }, nowMs)
  return { ledger, change, hear, heard, unheard: () => unheard }
}

test('a change is heard when the last other open stream has heard of it', () => {
  const { change, hear, heard, ledger } = domain([3])
  change('e1', 1_000)
  expect([hear(1, 'e1', 1_500), heard]).toEqual([1, []])
  expect([hear(2, 'e1', 3_000), heard]).toEqual([1, [2_000]])
  expect(ledger.size()).toBe(0)
})

test('a hint covers the former changes of its peer, and counts each change of a stream once', () => {
  const { change, hear, heard } = domain([3])
  change('e1', 0)
  change('e2', 400)
  expect([hear(1, 'e2', 900), hear(1, 'e1', 950), hear(2, 'e2', 1_000)]).toEqual([2, 0, 2])
  expect(heard).toEqual([1_000, 600])
})

test('a pull covers the changes that were accepted before its request was sent', () => {
  const { change, ledger, heard } = domain([2, 3])
  change('e1', 1_000)
  ledger.pulled(1, 999, 1_500)
  expect(heard).toEqual([])
  ledger.pulled(1, 1_000, 1_600)
  expect(heard).toEqual([600])
})

test('a hint that arrives before the answer to the change took no time', () => {
  const { ledger, hear, heard } = domain([2, 3])
  const announced = ledger.announce({ nodeId: 'a', endpoint: 'e1', by: 0 })
  hear(1, 'e1', 900)
  expect(heard).toEqual([])
  announced.accepted(1_000)
  expect(heard).toEqual([0])
})

test('a change that a stream has not heard of after 90 s is counted once, and not waited for', () => {
  const { ledger, change, hear, unheard, heard } = domain()
  change('e1', 1_000)
  hear(1, 'e1', 2_000)
  ledger.expire(90_999)
  expect([unheard(), ledger.size()]).toEqual([0, 1])
  ledger.expire(91_000)
  ledger.expire(92_000)
  hear(2, 'e1', 95_000)
  expect([unheard(), ledger.size(), heard]).toEqual([1, 0, []])
})

test('a refused change, and a stream that has ended for good, are not waited for', () => {
  const { ledger, change, hear, heard } = domain([3])
  ledger.announce({ nodeId: 'b', endpoint: 'e', by: 1 }).refused()
  expect(ledger.size()).toBe(0)
  change('e1', 0)
  hear(1, 'e1', 500)
  ledger.leave(2)
  expect(heard).toEqual([500])
})

test('a change is not waited for where no other stream is open', () => {
  const { ledger, change } = domain([1, 2, 3])
  change('e1', 0)
  expect(ledger.size()).toBe(0)
})
