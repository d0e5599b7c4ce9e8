import type { Operation, Surface } from '../../src/shared/contract/operation.ts'

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

/** The path without the names of its members: two operations on one object have the same shape. */
export const shapeOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')

/** The operation of that method on paths of that shape; undefined when the contract has none. */
export function operationAt(contract: readonly Placed[], method: string, path: string): Placed | undefined {
  const shape = shapeOf(path)
  return contract.find(({ operation }) => operation.method === method && shapeOf(operation.path) === shape)
}
