import type { Logger } from 'pino'
import type { Clock } from '../../ports/clock.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { SentCall } from '../../ports/held-calls.ts'
import type { Sealing } from '../../ports/keyring.ts'
import type { Loopback } from '../../ports/loopback.ts'
import { OPEN_MS, placeOf } from './held-calls.ts'
import * as store from './held-store.ts'

export interface HeldRunsDeps {
  readonly datastore: Datastore
  readonly sealing: Sealing
  readonly loopback: Loopback
  readonly clock: Clock
  readonly log: Logger
}

/** Makes approved calls as their requesters. */
export interface HeldRuns {
  /**
   * Makes the call unless it was made. One that is refused has failed for good, with the code of its refusal; one that a
   * dependency keeps from being made stays open. Never rejects: what fails is logged, and tried again by the job.
   */
  run(approvalId: string): Promise<void>
}

/** Statuses after which the same call may succeed later. */
const PASSING = new Set([429, 502, 503, 504])

/** Creates the runs. The use of the approval is in the transaction of the call, so that it is made once. */
export function createHeldRuns({ datastore, sealing, loopback, clock, log }: HeldRunsDeps): HeldRuns {
  const db = (): Db => datastore.pool('interactive')

  async function run(approvalId: string): Promise<void> {
    const call = await store.findCall(db(), approvalId)
    if (call?.sealed == null || call.state !== 'approved') return
    const isOver = call.ended_at === null || call.ended_at.getTime() + OPEN_MS <= clock.now()
    if (call.runs === 'requester') return isOver ? close(approvalId, undefined) : undefined
    return isOver ? close(approvalId, 'approval_stale') : make(call, call.sealed)
  }

  async function make(call: store.ApprovedCall, sealed: Buffer): Promise<void> {
    const { approval_id: approvalId } = call
    const caller = await callerOf(db(), call)
    if (caller === undefined) return close(approvalId, 'approval_stale')
    const opened = await sealing.open(placeOf(approvalId), sealed)
    // Sealed by `createHeldCalls`, and authenticated: nobody else has written it.
    const sent = JSON.parse(opened.toString('utf8')) as SentCall
    const { status, code } = await loopback.call({ ...caller, ...factsOf(sent) }, sent)
    if (status < 300) return
    log.info({ approval_id: approvalId, status, code }, 'an approved call was refused')
    if (!PASSING.has(status)) await close(approvalId, code ?? 'internal')
  }

  /** Ends a call that was not made, with the code of its failure if it has one. Another run may have made it meanwhile. */
  function close(approvalId: string, outcome: string | undefined): Promise<void> {
    return datastore.transaction('interactive', async (tx) => {
      const call = await store.lockCall(tx, approvalId)
      if (call === undefined || call.made_at !== null) return
      await store.closeCall(tx, approvalId, new Date(clock.now()))
      if (outcome !== undefined) await store.failApproval(tx, approvalId, outcome)
    })
  }

  return {
    run: (approvalId) =>
      run(approvalId).catch((error: unknown) => {
        log.error({ err: error, approval_id: approvalId }, 'an approved call could not be made; it will be tried again')
      }),
  }
}

function factsOf({ acr, authTimeMs }: SentCall): Pick<Caller, 'acr' | 'authTimeMs'> {
  return { ...(acr !== undefined && { acr }), ...(authTimeMs !== undefined && { authTimeMs }) }
}

/** The requester as a caller; undefined where it may not act any more. */
async function callerOf(db: Db, call: store.ApprovedCall): Promise<Caller | undefined> {
  const { approval_id: approvalId, requested_by: subject } = call
  const id = subject.slice(subject.indexOf(':') + 1)
  const principal = await store.findActing(db, id)
  if (principal === undefined) return undefined
  return {
    subject,
    id,
    kind: principal.kind === 'user' ? 'user' : 'service-identity',
    domainId: principal.domain_id,
    displayName: principal.display_name,
    credential: { kind: 'api-token', id: approvalId, scopes: ['*'], expiresAtMs: undefined },
    approvalId,
  }
}
