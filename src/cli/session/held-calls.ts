import type { Caller, Reply } from '../../client/client.ts'
import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { APPROVAL_HEADER, HELD } from '../../shared/contract/held-calls.ts'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'

const APPROVAL_PATH = /^\/v1\/approvals\/([^/]+)$/

/**
 * Makes calls that an approval policy may hold. `approvalId` is sent with those that their requester makes once they are
 * approved. A call that waits now ends the command: nothing has been changed, which scripts must not miss.
 */
export function withApprovals(caller: Caller, approvalId: string | undefined): Caller {
  return {
    ...caller,
    async call(operation, input, options = {}) {
      const isOpened = approvalId !== undefined && operation.approval === 'requester'
      const headers = { ...options.headers, ...(isOpened && { [APPROVAL_HEADER.toLowerCase()]: approvalId }) }
      const reply = await caller.call(operation, input, isOpened ? { ...options, headers } : options)
      const waiting = operation.approval === undefined ? undefined : approvalOf(reply)
      if (waiting !== undefined) throw held(operation, waiting)
      return reply
    },
  }
}

function approvalOf({ status, headers }: Reply): string | undefined {
  return status === HELD ? APPROVAL_PATH.exec(headers['location'] ?? '')?.[1] : undefined
}

function held({ cli, approval }: ManifestOperation, id: string): CliError {
  const then =
    approval === 'requester'
      ? `Once it is approved, run the same command within 24 hours with --approval ${id}`
      : 'It is done as soon as somebody else approves it'
  return new CliError(`${cli?.command ?? 'the call'} waits for the approval of somebody else; nothing is changed yet`, {
    exitCode: EXIT.negative,
    code: 'approval_required',
    hints: [`See it with: ctl approvals show ${id}`, then],
  })
}
