import { expect, it } from 'vitest'
import { contract } from '../../../../src/shared/contract/index.ts'
import type { Surface } from '../../../../src/shared/contract/operation.ts'

const operations = Object.values<Surface>(contract).flatMap((surface) => Object.entries(surface.operations))
const steppedUp = operations.filter(([, { gate }]) => gate.stepUp !== undefined)

it('the operations that need a stronger sign-in are the two acknowledgements', () => {
  expect(steppedUp.map(([id, { gate }]) => [id, gate.stepUp])).toEqual([
    ['AcknowledgeIntegrityViolation', 'integrity_acknowledge'],
    ['AcknowledgeDomainIntegrityViolation', 'integrity_acknowledge'],
  ])
})

it('none of them waits for an approval: hours later the sign-in of its requester would be too old', () => {
  expect(steppedUp.filter(([, { dualControl }]) => dualControl !== undefined)).toEqual([])
})
