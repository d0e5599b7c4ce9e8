import { expect, it } from 'vitest'
import { HELD_ACTIONS, LOOSENING } from '../../../../src/shared/approval-actions.ts'
import { contract } from '../../../../src/shared/contract/index.ts'
import type { Surface } from '../../../../src/shared/contract/operation.ts'

const holdable = Object.values<Surface>(contract).flatMap(({ operations }) =>
  Object.values(operations).flatMap(({ dualControl }) => dualControl?.actions ?? []),
)

it('every action that a policy may name holds an operation, and no operation names another', () => {
  expect([...new Set(holdable)].toSorted()).toEqual([...HELD_ACTIONS, LOOSENING].toSorted())
})
