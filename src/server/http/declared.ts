import type { IncomingHttpHeaders } from 'node:http'
import { APPROVAL_HEADER, requestHeadersOf } from '../../shared/contract/held-calls.ts'
import { questionOf, type Question } from './auth/leg-questions.ts'
import { bearerOf } from './auth/authenticate.ts'
import type { Leg, OperationPlan, RowFilter, SuccessPlan } from './operation-plan.ts'
import type { TemplateSources } from './template.ts'

// A handler may use only what its operation's contract declares: each of these functions throws otherwise.

export function probeOf({ id, probes }: OperationPlan, name: string): Leg {
  const leg = probes.get(name)
  if (leg === undefined) throw new Error(`${id} declares no probe ${name}`)
  return leg
}

export function rowFilterOf({ id, rows }: OperationPlan): RowFilter {
  if (rows === undefined) throw new Error(`${id} declares no filter of rows`)
  return rows
}

export function successOf({ id, successes }: OperationPlan, status: number): SuccessPlan {
  const success = successes.get(status)
  if (success === undefined) throw new Error(`${id} declares no answer ${status}`)
  return success
}

export function pagingOf({ id, operation: { paging } }: OperationPlan): NonNullable<typeof paging> {
  if (paging === undefined) throw new Error(`${id} is no list of pages`)
  return paging
}

export function assertSetsHeader({ id, headers }: OperationPlan, name: string): void {
  if (headers[name] === undefined) throw new Error(`${id} declares no header ${name}`)
}

export function assertSetsCookies({ id, operation: { headers } }: OperationPlan): void {
  if (headers?.['Set-Cookie'] === undefined) throw new Error(`${id} sets no cookies`)
}

export function requestHeaderOf(
  { id, operation }: OperationPlan,
  headers: IncomingHttpHeaders,
  name: string,
): string | undefined {
  if (requestHeadersOf(operation)?.[name] === undefined) throw new Error(`${id} declares no request header ${name}`)
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' ? value : value?.join(', ')
}

/** The approval under which a requester makes a call; undefined where it names none. */
export function approvalOf(plan: OperationPlan, headers: IncomingHttpHeaders): string | undefined {
  if (plan.operation.dualControl?.runs !== 'requester') return undefined
  return requestHeaderOf(plan, headers, APPROVAL_HEADER)
}

/** The check that the refusal of the gate would have named: who passes it decides on a held call. */
export function passedGateOf({ id, legs }: OperationPlan, sources: TemplateSources): Question {
  const [first] = legs.flatMap((leg) => questionOf(leg, sources) ?? [])
  if (first === undefined) throw new Error(`${id} has no gate, so nobody could decide on it`)
  return first
}

/** The Bearer secret under which the answer is sealed. */
export function sealingSecretOf(
  { id, operation: { sealsToSecret } }: OperationPlan,
  headers: IncomingHttpHeaders,
): string {
  const secret = sealsToSecret === true ? bearerOf(headers) : undefined
  if (secret === undefined) throw new Error(`${id} has no secret to seal its answer under`)
  return secret
}
