// Calls that an approval policy may hold until a second person has decided (decisions: Held operations).

/** The status of a held call. */
export const HELD = 202

/** The description of `Location` for a held call. */
export const APPROVAL_PLACE = 'Path of the approval that the call waits for'

/** The header by which a requester makes an approved call. */
export const APPROVAL_HEADER = 'X-Approval-Id'

/** Under which actions of an approval policy a call is held, and who makes it after the approval. */
export interface DualControl {
  /** The first that a policy names counts. */
  readonly actions: readonly [string, ...string[]]
  /**
   * `server`: the server makes the call as its requester when it is approved. `requester`: the requester makes the same
   * call again, with `X-Approval-Id`, within 24 h: its answer shows a secret once, which nobody else may see.
   */
  readonly runs: 'server' | 'requester'
  /**
   * What approving the call does, without the full stop. The holes `{path.id}`, `{query.name}` and `{body.name}` are members that every call
   * has, and `{held.object}` is what the call waits for, `<type>:<id>`.
   */
  readonly sentence: string
}

/** Declares calls that the server makes once they are approved. */
export function heldFor(
  sentence: string,
  ...actions: DualControl['actions']
): DualControl & { readonly runs: 'server' } {
  return { sentence, actions, runs: 'server' }
}

/** Declares calls that their requester makes again once they are approved. */
export function openedFor(
  sentence: string,
  ...actions: DualControl['actions']
): DualControl & { readonly runs: 'requester' } {
  return { sentence, actions, runs: 'requester' }
}

/** The members of an operation that are used here. */
interface Holdable {
  readonly method: string
  readonly responses: object
  readonly dualControl?: DualControl
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
  readonly dualControl?: DualControl
}): { readonly [status: number]: Shape | null } {
  return dualControl === undefined ? responses : { ...responses, [HELD]: null }
}

/** Response headers beyond those that every answer has: the operation's own, and that of a held call. */
export function responseHeadersOf({
  headers = {},
  dualControl,
}: {
  readonly headers?: Readonly<Record<string, string>>
  readonly dualControl?: DualControl
}): Readonly<Record<string, string>> {
  return dualControl === undefined ? headers : { Location: APPROVAL_PLACE, ...headers }
}

/** Request headers that are read: the operation's own, and that of an approved call which its requester makes. */
export function requestHeadersOf({
  requestHeaders,
  dualControl,
}: {
  readonly requestHeaders?: Readonly<Record<string, string>>
  readonly dualControl?: DualControl
}): Readonly<Record<string, string>> | undefined {
  if (dualControl?.runs !== 'requester') return requestHeaders
  return { ...requestHeaders, [APPROVAL_HEADER]: 'Id of the approval that allows the call, where one was required' }
}
