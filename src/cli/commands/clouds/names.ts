import { ProblemAnswer } from '../../../client/failures.ts'
import { memberOf } from '../../output/members.ts'
import type { Session } from '../../session/session.ts'
import { rowsOfList, type Cloud } from './reading.ts'

/** What objects are called, by id. One that the caller may not see is absent. */
export type Names = ReadonlyMap<string, string>

/** Credentials are looked at one by one; more than this keep their ids. */
const CREDENTIALS_MAX = 20

/** Finds the slugs of Clouds in their list. A refused list names none of them. */
export async function cloudNames(session: Session, ids: ReadonlySet<string>): Promise<Names> {
  const names = new Map<string, string>()
  if (ids.size === 0) return names
  try {
    for await (const { id, slug } of rowsOfList<Cloud>(session, 'ListClouds')) {
      if (ids.has(id)) names.set(id, slug)
      if (names.size === ids.size) break
    }
  } catch (error) {
    if (!(error instanceof ProblemAnswer)) throw error
  }
  return names
}

/** Finds the names of credentials, those that the caller may see. */
export async function credentialNames(session: Session, ids: ReadonlySet<string>): Promise<Names> {
  const found = await Promise.all(
    [...ids].slice(0, CREDENTIALS_MAX).map(async (id) => [id, await credentialName(session, id)] as const),
  )
  return new Map(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])))
}

async function credentialName(session: Session, id: string): Promise<string | undefined> {
  try {
    const { value } = await (await session.caller()).call(session.operation('GetCloudCredential'), { id })
    return String(memberOf(value, 'display_name'))
  } catch (error) {
    if (error instanceof ProblemAnswer) return undefined
    throw error
  }
}
