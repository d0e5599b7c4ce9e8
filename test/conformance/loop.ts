import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Surface } from '../../src/shared/contract/operation.ts'
import { readDocument, type OpenApi } from './document.ts'
import { accessRules } from './rules/access.ts'
import { bodyRules } from './rules/bodies.ts'
import { browserRules } from './rules/browsers.ts'
import { creationRules } from './rules/creations.ts'
import { cursorRules } from './rules/cursors.ts'
import { goneRules } from './rules/gone.ts'
import { handleRules } from './rules/handles.ts'
import { noStoreRules } from './rules/no-store.ts'
import { headRules } from './rules/heads.ts'
import { pageRules } from './rules/pages.ts'
import { parameterRules } from './rules/parameters.ts'
import { patchRules } from './rules/patches.ts'
import { placedIn } from './placed.ts'
import type { ConformanceWorld, Rule, Subject } from './rules/rule.ts'
import { secrecyRules } from './rules/secrecy.ts'
import { streamRules } from './rules/streams.ts'
import { successRules } from './rules/success.ts'
import { zeroIdRules } from './rules/zero-ids.ts'
import type { AnyScenarios } from './scenario.ts'
import { createSubject, type Ground } from './subject.ts'
import { exchange } from './wire.ts'

/** What is looped over: a contract, a scenario for each of its operations, and a server that speaks it. */
export interface Conformance<W extends ConformanceWorld> {
  readonly contract: { readonly [surface: string]: Surface }
  readonly scenarios: AnyScenarios<W>
  /** Starts the server and makes the world; `openapi` is the document that it serves. */
  readonly start: () => Promise<Running<W>>
  /** Default: all. */
  readonly rules?: readonly Rule[]
}

export interface Running<W> {
  readonly world: W
  readonly openapi: OpenApi
  readonly stop: () => Promise<void>
}

/** Everything that the loop checks of an operation. */
export const RULES: readonly Rule[] = [
  ...accessRules,
  ...browserRules,
  ...parameterRules,
  ...bodyRules,
  ...patchRules,
  ...successRules,
  ...headRules,
  ...streamRules,
  ...secrecyRules,
  ...cursorRules,
  ...noStoreRules,
  ...zeroIdRules,
  ...creationRules,
  ...handleRules,
  ...pageRules,
  ...goneRules,
]

/** Those about what the authorizer decides, and what is seen of it. */
export const DECISION_RULES: readonly Rule[] = [
  ...accessRules,
  ...successRules,
  ...secrecyRules,
  ...zeroIdRules,
  ...creationRules,
  ...handleRules,
  ...pageRules,
  ...goneRules,
]

/** Declares the tests of every operation of the contract in the surrounding `describe`. */
export function describeConformance<W extends ConformanceWorld>(conformance: Conformance<W>): void {
  const { contract, scenarios, rules = RULES } = conformance
  const placed = placedIn(contract)
  const ids = placed.map(({ id }) => id).toSorted()
  let running: Running<W> | undefined
  let ground: Ground<W> | undefined

  beforeAll(async () => {
    running = await conformance.start()
    ground = { world: running.world, document: readDocument(running.openapi), exchange, contract: placed, scenarios }
  })
  afterAll(() => running?.stop())

  function current(): Ground<W> {
    if (ground === undefined) throw new Error('the server did not start')
    return ground
  }

  it('has a scenario for every operation, and no other', () => {
    expect(Object.keys(scenarios).toSorted()).toEqual(ids)
  })

  it('describes every operation in the document that it serves, and no other', () => {
    expect([...current().document.operationIds].toSorted()).toEqual(ids)
  })

  for (const one of placed) {
    describe(one.id, () => {
      let made: Subject | undefined
      const subject = (): Subject => (made ??= createSubject(one, current()))
      for (const rule of rules.filter(({ applies }) => applies(one.operation, one.surface, placed))) {
        it(rule.title, () => rule.check(subject()))
      }
    })
  }
}
