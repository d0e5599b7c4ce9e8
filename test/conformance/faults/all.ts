import { accessFaults } from './access.ts'
import { bodiesFaults } from './bodies.ts'
import { browsersFaults } from './browsers.ts'
import { crudFaults } from './crud.ts'
import { everyAnswerFaults } from './every-answer.ts'
import type { Fault } from './fault.ts'
import { headFaults } from './heads.ts'
import { parametersFaults } from './parameters.ts'
import { patchFaults } from './patches.ts'
import { secrecyFaults } from './secrecy.ts'
import { streamFaults } from './streams.ts'
import { successFaults } from './success.ts'

/** Servers wrong on purpose: each must be found out. */
export const FAULTS: readonly Fault[] = [
  ...accessFaults,
  ...parametersFaults,
  ...bodiesFaults,
  ...patchFaults,
  ...successFaults,
  ...headFaults,
  ...streamFaults,
  ...everyAnswerFaults,
  ...browsersFaults,
  ...secrecyFaults,
  ...crudFaults,
]
