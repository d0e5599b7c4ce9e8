import type { Db } from '../../ports/datastore.ts'

/** Whether the subject, `user:<uuid>` or `serviceaccount:<uuid>`, exists and may act. Keeps it until the transaction ends. */
export async function holdActing(tx: Db, subject: string): Promise<boolean> {
  const principal = await tx
    .selectFrom('principals')
    .select('id')
    .where('id', '=', idOf(subject))
    .where('disabled_at', 'is', null)
    .forShare()
    .executeTakeFirst()
  return principal !== undefined
}

/** When somebody else last changed how the user signs in to its local account; undefined where nobody did. */
export async function changedByOtherAt(tx: Db, subject: string): Promise<Date | undefined> {
  const account = await tx
    .selectFrom('local_accounts')
    .select('changed_by_other_at')
    .where('principal_id', '=', idOf(subject))
    .executeTakeFirst()
  return account?.changed_by_other_at ?? undefined
}

/** How many of the subjects are people who may sign in. */
export async function countActingPeople(db: Db, subjects: readonly string[]): Promise<number> {
  const ids = subjects.filter((subject) => subject.startsWith('user:')).map(idOf)
  if (ids.length === 0) return 0
  const { people } = await db
    .selectFrom('principals')
    .select(({ fn }) => fn.countAll<string>().as('people'))
    .where('id', 'in', ids)
    .where('kind', '=', 'user')
    .where('disabled_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(people)
}

const idOf = (subject: string): string => subject.slice(subject.indexOf(':') + 1)
