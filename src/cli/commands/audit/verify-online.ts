import type { Caller } from '../../../client/client.ts'
import type { contract } from '../../../shared/contract/index.ts'
import type { ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { Progress } from '../../output/progress.ts'

/** What the server answers of a stretch of a chain. */
export type Verification = Result<(typeof contract)['audit']['operations']['GetAuditVerify']>

/** Where and what to ask. */
export interface Asking {
  readonly caller: Caller
  readonly operation: ManifestOperation
  readonly input: Readonly<Record<string, unknown>>
  readonly progress: Progress
}

/** Has the server verify a whole chain, stretch by stretch, each beginning with the very hash that the one before ended with. */
export async function verifyOnline({ caller, operation, input, progress }: Asking): Promise<Verification> {
  let whole: Verification | undefined
  for (let from: number | null = null; whole === undefined || from !== null; from = whole.next_seq) {
    const query = from === null ? input : { ...input, from_seq: String(from) }
    // The server validates its answers against this very operation.
    const part = (await caller.call(operation, query)).value as Verification
    if (whole !== undefined) assertFollows(whole, part)
    whole = whole === undefined ? part : joined(whole, part)
    progress.at(whole.rows)
  }
  return whole
}

function assertFollows(before: Verification, next: Verification): void {
  const isNext = next.start.seq === before.verified_through && next.start.hash === before.verified_hash
  // Rows before a checkpoint may have been deleted by age meanwhile.
  if (isNext || next.start.signed?.kind === 'checkpoint') return
  throw new CliError(`the chain changed after row ${before.verified_through} while it was looked at`, {
    exitCode: EXIT.negative,
    code: 'chain_broken',
  })
}

function joined(before: Verification, next: Verification): Verification {
  return {
    ...next,
    start: before.start,
    rows: before.rows + next.rows,
    signed_through: next.signed_through ?? before.signed_through,
    heads_verified: before.heads_verified + next.heads_verified,
    heads_unknown: before.heads_unknown + next.heads_unknown,
  }
}
