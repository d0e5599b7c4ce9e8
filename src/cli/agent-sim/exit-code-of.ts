import { EXIT, type ExitCode } from '../errors/exit-code.ts'
import type { SimulationResult } from './simulation.ts'

type Ended = Pick<SimulationResult, 'interrupted' | 'failedConditions'> & {
  readonly summary: Pick<SimulationResult['summary'], 'generator'>
}

/** A run of light agents measures; where the simulator was the bottleneck, it has measured nothing. */
export function exitCodeOf({ interrupted, failedConditions, summary }: Ended, isLight: boolean): ExitCode {
  if (interrupted) return EXIT.interrupted
  if (isLight && summary.generator?.was_bottleneck === true) return EXIT.failed
  return failedConditions.length > 0 ? EXIT.negative : EXIT.ok
}
