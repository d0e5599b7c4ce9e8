import { parseReference } from '../../../shared/ids.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { FlagValues } from '../../argv/flags.ts'
import { memberOf } from '../../output/members.ts'
import type { Resolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { currentProject } from '../tuples/tuple-reference.ts'

/** Which operations write the roles on an object, and what they need to know of it. */
export type GrantPlace =
  | { readonly on: 'platform' }
  /** The Domain itself, or a node of it that is in no Project. */
  | { readonly on: 'domain'; readonly domain: string; readonly node?: string }
  /** A Project, or an object in it. */
  | { readonly on: 'project'; readonly project: string; readonly resource: string }

/** Finds where the roles on an object are kept. @throws CliError for an object that has none. */
export async function grantPlace(session: Session, resolver: Resolver, text: string): Promise<GrantPlace> {
  const resource = await resolver.resource(text, {})
  const { type = '', id = '' } = parseReference(resource) ?? {}
  const find = FINDERS[type]
  if (find === undefined) throw noRoles(text, type)
  const place = await find({ session, resolver, resource, id })
  if (place.on === 'domain') await assertSameDomain({ session, resolver, resource: text, id: place.domain })
  return place
}

/** Refuses a `--domain` beside an object of another Domain: it could only be ignored. */
async function assertSameDomain({ session, resolver, resource, id }: Finding): Promise<void> {
  const { domain } = await session.settings()
  if (domain.origin !== '--domain') return
  const named = await resolver.chosen('domains', {})
  if (named === undefined || named.id === id) return
  throw usageError(`${resource} is not in the Domain of --domain ${domain.value ?? ''}`, 'Leave --domain out.')
}

/** Refuses `--project` without an object: it would neither name the Project nor look anything up. */
export function assertObjectNamed(object: string | undefined, { project }: FlagValues, words: string): void {
  if (object !== undefined || typeof project !== 'string') return
  throw usageError('--project says only where names are looked up', `Write it as: ctl ${words} project:${project}`)
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
