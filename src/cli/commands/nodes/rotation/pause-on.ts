import { mistypedError, usageError } from '../../../errors/cli-error.ts'
import { QUANTITIES, type Counts, type Quantity } from './counts.ts'

/** One condition of `--pause-on`: no wave begins while it holds. */
export interface PauseCondition {
  /** As typed, without spaces. */
  readonly text: string
  readonly quantity: Quantity
  readonly operator: '>' | '>='
  readonly threshold: number
}

/** What holds when nothing is said. */
export const PAUSE_ON_USUALLY = 'timeout>0,refused>0'
/** What switches it off. */
const NEVER = 'never'

const CONDITION = /^(?<quantity>[a-z]+)\s*(?<operator>>=?)\s*(?<threshold>\d{1,9})$/
const NAMES: readonly string[] = QUANTITIES.map(([name]) => name)

/** Reads `unreachable>0,timeout>=3`, or `never`. Throws a usage error that names what may stand there. */
export function parsePauseOn(text: string): readonly PauseCondition[] {
  if (text.trim() === NEVER) return []
  const parts = text.split(',').map((part) => part.trim())
  return parts.map(parseCondition)
}

function parseCondition(text: string): PauseCondition {
  const { quantity = '', operator, threshold } = CONDITION.exec(text)?.groups ?? {}
  if (operator === undefined)
    throw usageError(
      `--pause-on: "${text}" is no condition such as unreachable>0 or timeout>=3`,
      `It may compare ${NAMES.join(', ')}; "never" switches it off.`,
    )
  if (!isQuantity(quantity))
    throw mistypedError(`--pause-on: "${text}" compares nothing that is counted`, {
      word: quantity,
      known: NAMES,
      otherwise: `It may compare ${NAMES.join(', ')}.`,
    })
  return {
    text: text.replaceAll(/\s/g, ''),
    quantity,
    operator: operator === '>' ? '>' : '>=',
    threshold: Number(threshold),
  }
}

function isQuantity(text: string): text is Quantity {
  return NAMES.includes(text)
}

/** The first condition that holds of these counts, those left out that got no worse since somebody agreed to go on. */
export function pausing(
  conditions: readonly PauseCondition[],
  counts: Counts,
  agreedTo: Counts,
): PauseCondition | undefined {
  return conditions.find(({ quantity, operator, threshold }) => {
    const count = counts[quantity]
    const holds = operator === '>' ? count > threshold : count >= threshold
    return holds && count > agreedTo[quantity]
  })
}
