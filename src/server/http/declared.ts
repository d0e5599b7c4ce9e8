import type { IncomingHttpHeaders } from 'node:http'
import { bearerOf } from './auth/authenticate.ts'
import type { Leg, OperationPlan, RowFilter, SuccessPlan } from './operation-plan.ts'

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
  { id, operation: { requestHeaders } }: OperationPlan,
  headers: IncomingHttpHeaders,
  name: string,
): string | undefined {
  if (requestHeaders?.[name] === undefined) throw new Error(`${id} declares no request header ${name}`)
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' ? value : value?.join(', ')
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
