// Calls that an approval policy may hold until a second person has decided (decisions: Held operations).

/** The status of a held call. */
export const HELD = 202

/** The description of `Location` for a held call. */
export const APPROVAL_PLACE = 'Path of the approval that the call waits for'

/** The members of an operation that are used here. */
interface Holdable {
  readonly method: string
  readonly responses: object
  readonly dualControl?: string
}

/** @throws Error, which names the operation, where its calls cannot be held although it declares so. */
export function assertHoldable(id: string, { dualControl, method, responses }: Holdable): void {
  if (dualControl === undefined) return
  if (method === 'GET') throw new Error(`${id}: a read is not held for approval`)
  if (HELD in responses) throw new Error(`${id}: ${HELD} is the answer of a held call, and follows from dualControl`)
}

/** Success answers by status, that of a held call among them. */
export function responsesOf<Shape>({
  responses,
  dualControl,
}: {
  readonly responses: { readonly [status: number]: Shape }
  readonly dualControl?: string
}): { readonly [status: number]: Shape | null } {
  return dualControl === undefined ? responses : { ...responses, [HELD]: null }
}

/** Response headers beyond those that every answer has: the operation's own, and that of a held call. */
export function responseHeadersOf({
  headers = {},
  dualControl,
}: {
  readonly headers?: Readonly<Record<string, string>>
  readonly dualControl?: string
}): Readonly<Record<string, string>> {
  return dualControl === undefined ? headers : { Location: APPROVAL_PLACE, ...headers }
}
