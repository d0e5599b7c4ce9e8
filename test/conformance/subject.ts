import { problemCodesOf } from '../../src/shared/contract/problem-codes.ts'
import type { Operation, Surface } from '../../src/shared/contract/operation.ts'
import type { Document } from './document.ts'
import type { ConformanceWorld, Subject } from './rules/rule.ts'
import { untyped, type Scenario, type ValidCall } from './scenario.ts'
import type { Exchange } from './wire.ts'

/** An operation and where the contract has it. */
export interface Placed {
  readonly id: string
  readonly surface: string
  readonly operation: Operation
}

/** Every operation of a contract, in its order. */
export function placedIn(contract: { readonly [key: string]: Surface }): readonly Placed[] {
  return Object.values(contract).flatMap(({ name, operations }) =>
    Object.entries(operations).map(([id, operation]) => ({ id, surface: name, operation })),
  )
}

/** What rules are checked against. */
export interface Ground<W> {
  readonly world: W
  readonly document: Document
  /** How requests get to the server and answers back. */
  readonly exchange: Exchange
}

/** Makes the subject of one operation. */
export function createSubject<W extends ConformanceWorld>(
  placed: Placed,
  scenario: Scenario<W, object> | undefined,
  ground: Ground<W>,
): Subject {
  let once: Promise<ValidCall> | undefined

  async function arrangeIn(world: W): Promise<ValidCall> {
    if (scenario === undefined) throw new Error(`${placed.id} has no scenario`)
    return untyped(await scenario(world))
  }
  const arrange = (): Promise<ValidCall> => arrangeIn(ground.world)
  const { elsewhere } = ground.world

  return {
    ...placed,
    ...ground,
    problems: problemCodesOf(placed.operation),
    arrange,
    // What a world calls elsewhere is one of the same kind.
    arrangeElsewhere: elsewhere && (() => arrangeIn({ ...ground.world, ...elsewhere })),
    refused: () => (once ??= arrange()),
  }
}
