import type { IdSource } from '../ports/clock.ts'
import type { CarriedAudit, Change, UnitOfWork } from '../ports/unit-of-work.ts'

/** The result of a change that several requests share, and the audit rows of those that it carried out. */
export interface SharedResult<T> {
  readonly result: T
  readonly audits: readonly CarriedAudit[]
}

/**
 * Runs the change of several requests in one transaction, with their audit rows. The change has the correlation id of its
 * request where there is only one, and one of its own otherwise.
 */
export async function runShared<T>(
  { unitOfWork, ids }: { readonly unitOfWork: UnitOfWork; readonly ids: IdSource },
  requests: readonly { readonly correlationId: string }[],
  work: (change: Change) => Promise<SharedResult<T>>,
): Promise<T> {
  const [only] = requests.length === 1 ? requests : []
  let audits: readonly CarriedAudit[] = []
  const options = {
    pool: 'interactive',
    correlationId: only?.correlationId ?? ids.next(),
    audit: () => audits.flatMap(({ rows }) => rows),
  } as const
  const result = await unitOfWork.run(options, async (change) => {
    const made = await work(change)
    audits = made.audits
    return made.result
  })
  for (const { carried } of audits) carried()
  return result
}
