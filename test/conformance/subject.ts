import { problemCodesOf } from '../../src/shared/contract/problem-codes.ts'
import type { Document } from './document.ts'
import type { Placed } from './placed.ts'
import type { ConformanceWorld, Subject } from './rules/rule.ts'
import { untyped, type AnyScenarios, type ValidCall } from './scenario.ts'
import type { Exchange } from './wire.ts'

/** What rules are checked against. */
export interface Ground<W> {
  readonly world: W
  readonly document: Document
  /** How requests get to the server and answers back. */
  readonly exchange: Exchange
  /** Every operation of the contract. */
  readonly contract: readonly Placed[]
  readonly scenarios: AnyScenarios<W>
}

/** Makes the subject of one operation. */
export function createSubject<W extends ConformanceWorld>(placed: Placed, ground: Ground<W>): Subject {
  const { world, document, exchange, contract, scenarios } = ground
  const scenario = scenarios[placed.id]
  let once: Promise<ValidCall> | undefined

  async function arrangeIn(place: W): Promise<ValidCall> {
    if (scenario === undefined) throw new Error(`${placed.id} has no scenario`)
    return untyped(await scenario(place))
  }
  const arrange = (): Promise<ValidCall> => arrangeIn(world)
  const { elsewhere } = world

  return {
    ...placed,
    world,
    document,
    exchange,
    contract,
    problems: problemCodesOf(placed.operation),
    arrange,
    // What a world calls elsewhere is one of the same kind.
    arrangeElsewhere: elsewhere && (() => arrangeIn({ ...world, ...elsewhere })),
    refused: () => (once ??= arrange()),
    of: (other) => createSubject(other, ground),
  }
}
