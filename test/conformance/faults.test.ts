import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fixtureContract } from '../support/server/fixture-server.ts'
import { readDocument } from './document.ts'
import { FAULTS } from './faults/all.ts'
import type { Fault } from './faults/fault.ts'
import { fixtureScenarios, startFixtureWorld, type FixtureWorld } from './fixture-world.ts'
import { RULES, type Running } from './loop.ts'
import { placedIn } from './placed.ts'
import type { Rule, Subject } from './rules/rule.ts'
import type { AnyScenarios } from './scenario.ts'
import { createSubject } from './subject.ts'
import { exchange } from './wire.ts'

let running: Running<FixtureWorld>
beforeAll(async () => {
  running = await startFixtureWorld()
})
afterAll(() => running.stop())

const scenarios: AnyScenarios<FixtureWorld> = fixtureScenarios
const contract = placedIn(fixtureContract)

/** The operation as the loop would see it on a server with that fault. */
function subjectOf({ operation, edge, change }: Fault): Subject {
  const placed = contract.find(({ id }) => id === operation)
  if (placed === undefined) throw new Error(`the fixture has no operation ${operation}`)
  const subject = createSubject(placed, {
    contract,
    scenarios,
    world: running.world,
    document: readDocument(running.openapi),
    exchange: (url, wire) => (edge === undefined ? exchange(url, wire) : edge(wire, (asked) => exchange(url, asked))),
  })
  return { ...subject, ...change?.(subject) }
}

function ruleOf({ rule }: Fault, { operation, surface }: Subject): Rule {
  const found = RULES.find(({ title, applies }) => title === rule && applies(operation, surface, contract))
  if (found === undefined) throw new Error(`the loop has no such rule for ${operation.path}: ${rule}`)
  return found
}

/** An assertion that did not hold. */
interface Finding {
  readonly name: string
  readonly message: string
  readonly actual?: unknown
  readonly expected?: unknown
}

/** What a rule says of a subject; undefined when nothing. */
async function findingOf(rule: Rule, subject: Subject): Promise<Finding | undefined> {
  try {
    await rule.check(subject)
    return undefined
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

describe('the conformance loop finds it out when', () => {
  it.concurrent.each(FAULTS)('$fault ($operation)', async (fault) => {
    const subject = subjectOf(fault)
    const { name, message, actual, expected } = (await findingOf(ruleOf(fault, subject), subject)) ?? {}
    expect(name, 'the rule held').toBe('AssertionError')
    expect(`${message} ${inspect(actual)} ${inspect(expected)}`).toContain(fault.says)
  })
})

it('no rule of the loop is without a fault that it finds', () => {
  const found = new Set(FAULTS.map(({ rule }) => rule))
  expect(RULES.map(({ title }) => title).filter((title) => !found.has(title))).toEqual([])
})
