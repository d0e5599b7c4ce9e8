import { parseReference } from '../../shared/ids.ts'
import { usageError } from '../cli-error.ts'
import { memberOf } from '../output/members.ts'
import type { Resolver } from '../references.ts'
import type { Session } from '../session.ts'
import { currentProject } from '../tuples/tuple-reference.ts'

/** Which operations write the roles on an object, and what they need to know of it. */
export type GrantPlace =
  | { readonly on: 'platform' }
  /** The Domain itself, or a node of it that lies in no Project. */
  | { readonly on: 'domain'; readonly domain: string; readonly node?: string }
  /** A Project, or what lies in it. */
  | { readonly on: 'project'; readonly project: string; readonly resource: string }

/** Finds where the roles on an object are kept. @throws CliError for an object that has none. */
export async function grantPlace(session: Session, resolver: Resolver, text: string): Promise<GrantPlace> {
  const resource = await resolver.resource(text, {})
  const { type = '', id = '' } = parseReference(resource) ?? {}
  const find = FINDERS[type]
  if (find === undefined) throw noRoles(text, type)
  return find({ session, resolver, resource, id })
}

interface Finding {
  readonly session: Session
  readonly resolver: Resolver
  readonly resource: string
  readonly id: string
}

type Finder = (finding: Finding) => Promise<GrantPlace>

const inProject: Finder = async ({ resolver, resource }) => ({
  on: 'project',
  project: await currentProject(resolver),
  resource,
})

const FINDERS: Readonly<Record<string, Finder>> = {
  platform: async () => ({ on: 'platform' }),
  domain: async ({ id }) => ({ on: 'domain', domain: id }),
  project: async ({ id, resource }) => ({ on: 'project', project: id, resource }),
  node: async ({ session, id, resource }) => {
    const { value } = await (await session.caller()).call(session.operation('GetNode'), { id })
    const [project, domain] = [memberOf(value, 'project_id'), memberOf(value, 'domain_id')]
    if (typeof project === 'string') return { on: 'project', project, resource }
    return { on: 'domain', domain: String(domain), node: resource }
  },
  resource: inProject,
  network: inProject,
  workload: inProject,
}

function noRoles(text: string, type: string): Error {
  if (type === 'group')
    return usageError('a group has members, and no roles', `ctl groups add-member ${text.slice(6)} SUBJECT`)
  return usageError(
    `no role can be granted on "${text}"`,
    'On what: platform, domain:NAME, project:NAME, node:NAME, resource:NAME, …',
  )
}
