import type { z } from 'zod'
import { ShapeFault, type Settled } from '../../shared/contract/late.ts'
import type { InvalidCode } from '../../shared/problems.ts'
import { schemaProblem } from './schema-failure.ts'

/**
 * Gives a body whose late members all have the right shape.
 * @throws Problem of the first member, in the order of the schema, that has not: what the edge would have answered.
 */
export function settled<Body extends object>(
  schema: z.ZodObject,
  body: Body,
  fallback: InvalidCode = 'invalid_body',
): Settled<Body> {
  const faults = Object.entries(body).flatMap(([member, value]) =>
    value instanceof ShapeFault ? value.issues.map((issue) => ({ ...issue, path: [member, ...issue.path] })) : [],
  )
  if (faults.length > 0) throw schemaProblem(schema, { issues: faults }, fallback)
  // Every member that was a fault has thrown.
  return body as Settled<Body>
}
