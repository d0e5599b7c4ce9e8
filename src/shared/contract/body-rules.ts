import type { z } from 'zod'
import type { InvalidCode } from '../problems.ts'

/** What a rule over several members of a body finds wrong. */
export interface RuleFault {
  readonly code: InvalidCode
  /** The members at fault, by name; one at least. */
  readonly members: readonly string[]
  /** The rule, as `must …`: the same for each of the members. */
  readonly detail: string
}

/** The members of a body. Which of them a body has is what rules are about: their values may be of any shape. */
export type NamedMembers = Readonly<Record<string, unknown>>

declare module 'zod' {
  interface GlobalMeta {
    /** A fault of this member is answered before faults of members that do not decide. */
    decides?: true | undefined
  }
}

/** Where an issue of a rule has the code of the rule's fault. */
const CODE = 'code'

/**
 * A schema of a body that also holds a rule over several members. The rule is asked even where members are malformed, and
 * its fault is answered before theirs: a body of two contradicting halves is refused for the contradiction.
 */
export function withRule<Schema extends z.ZodType>(
  schema: Schema,
  rule: (body: NamedMembers) => RuleFault | undefined,
): Schema {
  const check: z.core.$ZodCheck<z.output<Schema>> = {
    _zod: {
      def: { check: 'custom', when: () => true },
      onattach: [],
      check: ({ value, issues }) => {
        const fault = isObject(value) ? rule(value) : undefined
        for (const member of fault?.members ?? []) {
          const message = fault?.detail ?? ''
          issues.push({ code: 'custom', input: value, path: [member], message, params: { [CODE]: fault?.code } })
        }
      },
    },
  }
  return schema.check(check)
}

/** The code of an issue that a rule found; undefined for other issues. */
export function ruleCodeOf(issue: z.core.$ZodIssue): InvalidCode | undefined {
  // Only `withRule` writes the parameter.
  return issue.code === 'custom' ? (issue.params?.[CODE] as InvalidCode | undefined) : undefined
}

function isObject(value: unknown): value is NamedMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
