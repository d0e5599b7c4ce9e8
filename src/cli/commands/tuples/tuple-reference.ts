import { rows as pagedRows, type Page } from '../../../client/pages.ts'
import type { CallInput } from '../../../client/client.ts'
import { CliError, usageError } from '../../errors/cli-error.ts'
import type { Given } from '../../argv/command.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { createResolver, type Resolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { caveatOf, type TupleRequest } from './tuple-request.ts'

/** A tuple as lists show it. */
export interface ListedTuple extends TupleRequest {
  readonly id: string
}

/** What was typed, with tuples written as `project:web#viewer@user:alice` replaced by their ids. */
export async function withTupleIds(given: Given, session: Session): Promise<Given> {
  if (!given.args.some(isWritten)) return given
  const resolver = createResolver(session)
  const args: string[] = []
  for (const text of given.args) args.push(isWritten(text) ? (await writtenTuple(session, resolver, text)).id : text)
  return { ...given, args }
}

/** Whether a text is a tuple rather than the id of one. */
export function isWritten(text: string): boolean {
  return text.includes('#') && text.includes('@')
}

/** Finds a tuple by what it says. @throws CliError where there is none, or several that differ in their caveats. */
export async function writtenTuple(session: Session, resolver: Resolver, text: string): Promise<ListedTuple> {
  const { relationshipRow } = await import('./relationship-text.ts')
  const row = relationshipRow(text, 1)
  if ('message' in row) throw usageError(`"${text}" ${row.message}`)
  const wanted = await resolvedTuple(resolver, row.tuple, {})
  const found = await tuplesLike(session, await projectOf(resolver, wanted), wanted)
  const exact = found.filter((one) => caveatOf(one) === caveatOf(wanted))
  const [only, ...others] = exact.length > 0 ? exact : found
  if (only === undefined) throw absent(text)
  if (others.length > 0) throw several(text, found)
  return only
}

/** A tuple with the ids of what it names. @throws CliError where a name is not known, or two have it. */
export async function resolvedTuple(
  resolver: Resolver,
  tuple: TupleRequest,
  scope: Readonly<Record<string, string>>,
): Promise<TupleRequest> {
  const [subject, resource] = [
    await resolver.subject(tuple.subject, scope),
    await resolver.resource(tuple.resource, scope),
  ]
  return { ...tuple, subject, resource }
}

/** The Project whose list has the tuple: its own object, else the one that commands work in. */
export async function projectOf(resolver: Resolver, { resource }: TupleRequest): Promise<string> {
  return resource.startsWith('project:') ? resource.slice('project:'.length) : currentProject(resolver)
}

/** The id of the Project that commands work in. @throws CliError where none is chosen and there are several. */
export async function currentProject(resolver: Resolver): Promise<string> {
  const project = await resolver.fallback('projects', {})
  if (project === undefined) throw usageError('--project is missing', 'Add --project, or set CTL_PROJECT')
  return project.id
}

async function tuplesLike(session: Session, project: string, wanted: TupleRequest): Promise<readonly ListedTuple[]> {
  const found: ListedTuple[] = []
  for await (const tuple of listedTuples(session, project)) {
    const isSame =
      tuple.subject === wanted.subject && tuple.relation === wanted.relation && tuple.resource === wanted.resource
    if (isSame) found.push(tuple)
  }
  return found
}

/** The tuples of a Project that the caller may read, in the order of their ids. */
export async function* listedTuples(session: Session, project: string): AsyncGenerator<ListedTuple, void, void> {
  const caller = await session.caller()
  const operation = session.operation('ListRelationTuples')
  // The server validates its answers against this very operation.
  const page = async (query: CallInput): Promise<Page<ListedTuple>> =>
    (await caller.call(operation, query)).value as Page<ListedTuple>
  yield* pagedRows(page, { project_id: project, limit: '200' })
}

function absent(text: string): CliError {
  return new CliError(`there is no tuple ${text}, or you may not see it`, {
    exitCode: EXIT.notFound,
    code: 'reference_not_found',
    hints: ['See which there are: ctl tuples list'],
  })
}

function several(text: string, found: readonly ListedTuple[]): CliError {
  return new CliError(`"${text}" fits ${found.length} tuples; give an id`, {
    exitCode: EXIT.usage,
    code: 'ambiguous_reference',
    hints: found.map((one) => `  ${one.id}  ${caveatOf(one) || 'no caveat'}`),
  })
}
