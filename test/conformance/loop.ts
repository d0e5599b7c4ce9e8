import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { manifestOf } from '../../src/shared/contract/manifest.ts'
import type { Manifest } from '../../src/shared/contract/manifest-format.ts'
import type { Operation, Surface } from '../../src/shared/contract/operation.ts'
import { readDocument, type Document, type OpenApi } from './document.ts'
import { accessRules } from './rules/access.ts'
import { bodyRules } from './rules/bodies.ts'
import { parameterRules } from './rules/parameters.ts'
import type { ConformanceWorld, Rule, Subject } from './rules/rule.ts'
import { successRules } from './rules/success.ts'
import type { AnyScenarios, ValidCall } from './scenario.ts'

/** What is looped over: a contract, a scenario for each of its operations, and a server that speaks it. */
export interface Conformance<W extends ConformanceWorld> {
  readonly contract: { readonly [surface: string]: Surface }
  readonly scenarios: AnyScenarios<W>
  /** Starts the server and makes the world; `openapi` is the document that it serves. */
  readonly start: () => Promise<Running<W>>
}

export interface Running<W> {
  readonly world: W
  readonly openapi: OpenApi
  /** Where the server keeps its rows; undefined where nobody else can look at them. */
  readonly databaseUrl?: string | undefined
  readonly stop: () => Promise<void>
}

const RULES: readonly Rule[] = [...accessRules, ...parameterRules, ...bodyRules, ...successRules]

/** Declares the tests of every operation of the contract in the surrounding `describe`. */
export function describeConformance<W extends ConformanceWorld>(conformance: Conformance<W>): void {
  const { contract, scenarios } = conformance
  const manifest = manifestOf(contract)
  let running: Running<W> | undefined
  let document: Document | undefined

  beforeAll(async () => {
    running = await conformance.start()
    document = readDocument(running.openapi)
  })
  afterAll(() => running?.stop())

  function current(): { readonly world: W; readonly document: Document } {
    if (running === undefined || document === undefined) throw new Error('the server did not start')
    return { world: running.world, document }
  }

  it('has a scenario for every operation, and no other', () => {
    expect(Object.keys(scenarios).toSorted()).toEqual(Object.keys(manifest.operations).toSorted())
  })

  it('describes every operation in the document that it serves, and no other', () => {
    expect([...current().document.operationIds].toSorted()).toEqual(Object.keys(manifest.operations).toSorted())
  })

  for (const surface of Object.values(contract)) {
    for (const [id, operation] of Object.entries(surface.operations)) {
      const placed = { id, surface: surface.name, operation }
      describe(id, () => describeOperation(placed, { scenarios, manifest, current }))
    }
  }
}

interface Placed {
  readonly id: string
  readonly surface: string
  readonly operation: Operation
}

interface Loop<W> {
  readonly scenarios: AnyScenarios<W>
  readonly manifest: Manifest
  readonly current: () => { readonly world: W; readonly document: Document }
}

function describeOperation<W extends ConformanceWorld>(placed: Placed, loop: Loop<W>): void {
  const { id, operation, surface } = placed
  const scenario = loop.scenarios[id]
  let once: Promise<ValidCall> | undefined

  async function arrange(): Promise<ValidCall> {
    if (scenario === undefined) throw new Error(`${id} has no scenario`)
    const call = await scenario(loop.current().world)
    return { ...call, input: { ...call.input } }
  }

  function subject(): Subject {
    const problems = loop.manifest.operations[id]?.problems ?? []
    const refused = (): Promise<ValidCall> => (once ??= arrange())
    return { ...placed, ...loop.current(), problems, arrange, refused }
  }

  for (const rule of RULES.filter(({ applies }) => applies(operation, surface))) {
    it(rule.title, () => rule.check(subject()))
  }
}
