import type { z } from 'zod'

/** A member of a wrong shape, in the place of its value. */
export class ShapeFault {
  /** What its schema found, with paths inside the member. */
  readonly issues: readonly z.core.$ZodIssue[]

  constructor(issues: readonly z.core.$ZodIssue[]) {
    this.issues = issues
  }
}

/** A body whose late members have the right shape. */
export type Settled<Body> = { [Member in keyof Body]: Exclude<Body[Member], ShapeFault> }

/**
 * A member whose shape the handler judges: where the order of the refusals puts a rule over the stored object before the
 * shapes (decisions: Catalogue, PATCH order). The edge hands over a `ShapeFault` where the shape is wrong; the handler calls
 * `settled` (`server/http/settled.ts`) once the rule holds. The document describes the schema as it is.
 */
export function late<Schema extends z.ZodType>(
  schema: Schema,
): z.ZodType<z.output<Schema> | ShapeFault, z.input<Schema>> {
  const open: z.ZodType = schema
  const caught = open.catch((context: CatchContext | undefined) => faultOf(context))
  // `open` has forgotten what the schema takes and gives.
  return caught as z.ZodType<z.output<Schema> | ShapeFault, z.input<Schema>>
}

/** What the schema found. */
interface CatchContext {
  readonly error: { readonly issues: readonly z.core.$ZodIssue[] }
}

/** JSON Schema asks for the value without a context: then there is no fault, and no default in the document. */
function faultOf(context: CatchContext | undefined): ShapeFault | undefined {
  return context === undefined ? undefined : new ShapeFault(context.error.issues)
}
