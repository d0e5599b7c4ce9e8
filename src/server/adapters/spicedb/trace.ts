import type { v1 } from '@authzed/authzed-node'
import { plainObject, type ObjectName } from './messages.ts'

/** SpiceDB's trace of one question within a check. It omits permissions that are only an alias. */
export interface Trace {
  readonly object: ObjectName
  /** In the spelling of the schema. */
  readonly name: string
  readonly isRelation: boolean
  readonly isGranted: boolean
  /** Whether a caveat was evaluated for it. */
  readonly hasCaveat: boolean
  readonly parts: readonly Trace[]
}

type DebugTrace = NonNullable<NonNullable<v1.CheckPermissionResponse['debugTrace']>['check']>

/** Numbers of enumerations that the client does not export. */
const RELATION = 1
const HAS_PERMISSION = 2
const CONDITIONAL = 3
const CAVEAT_TRUE = 3

/** SpiceDB marks a question that only a caveat decides as conditional in the trace, even if the caveat holds. */
function isGranted({ result, caveatEvaluationInfo: caveat }: DebugTrace): boolean {
  const outcome: number = result
  const held: number | undefined = caveat?.result
  return outcome === HAS_PERMISSION || (outcome === CONDITIONAL && held === CAVEAT_TRUE)
}

export function traceOf(debug: DebugTrace): Trace {
  const { resolution } = debug
  const kind: number = debug.permissionType
  const parts = resolution.oneofKind === 'subProblems' ? resolution.subProblems.traces : []
  return {
    object: plainObject(debug.resource),
    name: debug.permission,
    isRelation: kind === RELATION,
    isGranted: isGranted(debug),
    hasCaveat: debug.caveatEvaluationInfo !== undefined,
    parts: parts.map(traceOf),
  }
}

/** Every relation of the trace for which a caveat was evaluated. */
export function caveatedRelations(trace: Trace): Trace[] {
  const below = trace.parts.flatMap(caveatedRelations)
  return trace.isRelation && trace.hasCaveat ? [trace, ...below] : below
}
