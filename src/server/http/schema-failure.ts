import { z } from 'zod'
import { isImmutable } from '../../shared/contract/patch.ts'
import { ruleCodeOf } from '../../shared/contract/body-rules.ts'
import { PROBLEMS, problem, type Problem, type InvalidCode } from '../../shared/problems.ts'
import type { MemberError, Row } from '../../shared/problems/row.ts'

const ERRORS_MAX = 16
/** Names of unknown members are the caller's own and may be as long as a body. */
const POINTER_MAX = 256

/**
 * Turns what a schema found wrong into the 400 of the specification: the code that the failing member declares, else
 * the schema's own, else `fallback`; the members with their pointers are in `errors`. Of several members, one that cannot
 * change decides (S1 Clouds 1), else a rule over several members or a member that `decides`, else the first.
 */
export function schemaProblem(
  schema: z.ZodType,
  error: { readonly issues: readonly z.core.$ZodIssue[] },
  fallback: InvalidCode,
): Problem {
  const codeOfIssue = (issue: z.core.$ZodIssue): InvalidCode =>
    ruleCodeOf(issue) ?? declaredCode(schema, issue.path) ?? z.globalRegistry.get(schema)?.problem ?? fallback
  const decisive = decisiveOf(schema, error.issues)
  const code = decisive === undefined ? fallback : codeOfIssue(decisive)
  const errors: MemberError[] = error.issues.slice(0, ERRORS_MAX).map((issue) => ({
    pointer: pointerTo(issue),
    detail: sentenceOf(issue),
  }))
  const { namesFields }: Row = PROBLEMS[code]
  if (namesFields !== true) return problem(code, { errors })
  const isByRule = decisive !== undefined && ruleCodeOf(decisive) !== undefined
  const named = error.issues.filter((issue) => (isByRule ? ruleCodeOf(issue) : codeOfIssue(issue)) === code)
  return problem(code, { errors, ...fieldsOf(named) })
}

/** The issue whose code is answered. */
function decisiveOf(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const at = ({ path }: z.core.$ZodIssue) => schemaAt(schema, path)
  return (
    issues.find((issue) => isImmutable(at(issue))) ??
    issues.find((issue) => ruleCodeOf(issue) !== undefined) ??
    issues.find((issue) => decides(at(issue))) ??
    issues[0]
  )
}

function decides(schema: z.core.$ZodType | undefined): boolean {
  if (schema === undefined) return false
  return z.globalRegistry.get(schema)?.decides === true || decides(innerOf(schema))
}

/** The members of the body that the issues are about, each once. */
function fieldsOf(issues: readonly z.core.$ZodIssue[]): { readonly fields: readonly string[] } {
  const members = issues.flatMap(({ path: [member] }) => (member === undefined ? [] : [String(member)]))
  return { fields: [...new Set(members)].slice(0, ERRORS_MAX) }
}

/** The schemas along a path, from the outermost member inwards, as far as they are known. */
function schemasAlong(schema: z.ZodType, path: readonly PropertyKey[]): readonly z.core.$ZodType[] {
  const along: z.core.$ZodType[] = []
  let at: z.core.$ZodType | undefined = schema
  for (const step of path) {
    at = memberOf(unwrapped(at), step)
    if (at === undefined) break
    along.push(at)
  }
  return along
}

function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  return schemasAlong(schema, path)[path.length - 1]
}

/** The deepest member on the path that declares a code wins. */
function declaredCode(schema: z.ZodType, path: readonly PropertyKey[]): InvalidCode | undefined {
  return schemasAlong(schema, path).reduce<InvalidCode | undefined>((code, at) => codeOf(at) ?? code, undefined)
}

/** A member's code may be declared on it, or on what it wraps in `optional`. */
function codeOf(schema: z.core.$ZodType): InvalidCode | undefined {
  const own = z.globalRegistry.get(schema)?.problem
  if (own !== undefined) return own
  const inner = innerOf(schema)
  return inner && codeOf(inner)
}

function innerOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return schema.def.innerType
  }
  if (schema instanceof z.ZodCatch) return schema.def.innerType
  return schema instanceof z.ZodPipe ? schema.def.in : undefined
}

function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  const inner = schema && innerOf(schema)
  return inner ? unwrapped(inner) : schema
}

function memberOf(schema: z.core.$ZodType | undefined, step: PropertyKey): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) return schema.shape[String(step)]
  if (schema instanceof z.ZodArray) return schema.def.element
  if (schema instanceof z.ZodRecord) return schema.def.valueType
  return undefined
}

function pointerTo(issue: z.core.$ZodIssue): string {
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path
  const pointer = path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return pointer.slice(0, POINTER_MAX)
}

/** The server's own messages: those of zod may quote the input. */
function sentenceOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'is not a known member'
    case 'invalid_type':
      return issue.expected === 'never' ? 'must not be sent' : `must be of type ${issue.expected}`
    case 'too_small':
      return `must be at least ${String(issue.minimum)}${unitOf(issue.origin)}`
    case 'too_big':
      return `must be at most ${String(issue.maximum)}${unitOf(issue.origin)}`
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`
    case 'custom':
      return issue.message
    default:
      return issue.message.startsWith('must ') ? issue.message : 'is malformed'
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters long'
  return origin === 'array' || origin === 'map' || origin === 'set' ? ' items long' : ''
}
