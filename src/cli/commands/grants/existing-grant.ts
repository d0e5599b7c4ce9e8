import { rows as pagedRows, type Page } from '../../../client/pages.ts'
import type { CallInput } from '../../../client/client.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { memberOf } from '../../output/members.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import type { GrantPlace } from './place.ts'

/** The list that shows the roles on an object, and what it has to be asked. */
export function grantList(place: GrantPlace): { readonly operation: string; readonly input: CallInput } {
  if (place.on === 'platform') return { operation: 'ListPlatformGrants', input: {} }
  if (place.on === 'project') {
    const { project, resource } = place
    return { operation: 'ListRelationTuples', input: { project_id: project, resource } }
  }
  const node = place.node === undefined ? {} : { resource: place.node }
  return { operation: 'ListDomainGrants', input: { id: place.domain, ...node } }
}

interface Named {
  readonly subject: string
  readonly role: string
  readonly object: string
}

/** The id of the grant that gives a role to a subject. @throws CliError where there is none, or several under caveats. */
export async function existingGrant(
  session: Session,
  place: GrantPlace,
  { subject, role, object }: Named,
): Promise<string> {
  // Where a grant is created, names are looked up in the Domain of the object.
  const scope = place.on === 'domain' ? { domains: place.domain } : {}
  const wanted = await createResolver(session).subject(subject, scope)
  const { operation, input } = grantList(place)
  const caller = await session.caller()
  const page = async (query: CallInput): Promise<Page<unknown>> =>
    (await caller.call(session.operation(operation), query)).value as Page<unknown>
  const found: string[] = []
  for await (const row of pagedRows(page, { ...input, limit: '200' }))
    if (memberOf(row, 'subject') === wanted && memberOf(row, 'relation') === role)
      found.push(String(memberOf(row, 'id')))
  const [id, ...others] = found
  if (id === undefined) throw failure(`${subject} does not hold ${role} on ${object}`, EXIT.notFound, object)
  if (others.length > 0)
    throw failure(`${subject} holds ${role} on ${object} several times, under caveats; give an id`, EXIT.usage, object)
  return id
}

function failure(message: string, exitCode: 2 | 3, object: string): CliError {
  const code = exitCode === EXIT.notFound ? 'grant_not_found' : 'ambiguous_reference'
  return new CliError(message, { exitCode, code, hints: [`See who holds what: ctl grants list ${object}`] })
}
