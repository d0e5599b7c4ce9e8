import type { Given } from '../../argv/command.ts'
import type { ArgumentSpec, FlagSpecs } from '../../argv/flags.ts'
import { placeFlag } from '../../derive/places.ts'
import { usageError } from '../../errors/cli-error.ts'
import { memberOf } from '../../output/members.ts'
import { BRIDGE } from '../../session/only-bridge.ts'
import type { Resolved } from '../../session/pick.ts'
import { createResolver, type Resolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'

/** A Project, with what its names are looked up by. */
export interface ProjectPlace {
  readonly resolver: Resolver
  readonly project: Resolved
}

/** A bridge of a Project. */
export interface BridgePlace extends ProjectPlace {
  readonly bridge: Resolved
  /** As path members of its operations. */
  readonly path: { readonly project_id: string; readonly resource_id: string }
}

/** The argument that names a bridge, where the command has one bridge. */
export const BRIDGE_ARGUMENT: ArgumentSpec = {
  name: 'bridge',
  describe: 'Bridge; the only one of the Project when absent',
  noun: BRIDGE,
  required: false,
}

/** Where bridges are looked up. */
export const BRIDGE_PLACES = {
  project: placeFlag('projects'),
  domain: placeFlag('domains'),
} as const satisfies FlagSpecs

/** The Project in which a command works. Throws a usage error where there is none. */
export async function projectPlace(session: Session): Promise<ProjectPlace> {
  const resolver = createResolver(session)
  const project = await resolver.fallback('projects', {})
  if (project === undefined) throw usageError('--project is missing', 'Add --project, or set CTL_PROJECT')
  return { resolver, project }
}

/** The bridge that is named, else the only one of the Project. Throws what a look-up throws, and where there are several. */
export async function bridgePlace(session: Session, named: unknown): Promise<BridgePlace> {
  const { resolver, project } = await projectPlace(session)
  const scope = { projects: project.id }
  const bridge =
    typeof named === 'string'
      ? await resolver.object(BRIDGE, named, scope)
      : ((await resolver.fallback(BRIDGE, scope)) ?? { id: '', label: '' })
  return { resolver, project, bridge, path: { project_id: project.id, resource_id: bridge.id } }
}

/** Flags for the derived command of an operation of this bridge, whose place is known by ids now. */
export function placed(flags: Given['flags'], { path }: BridgePlace): Given['flags'] {
  return { ...flags, project: path.project_id, bridge: path.resource_id }
}

/** The Domain that nodes of the Project belong to, where that is known: names of nodes are looked up in it. */
export function nodeScope({ project }: ProjectPlace): { readonly domains?: string } {
  const id = memberOf(project.row, 'domain_id')
  return typeof id === 'string' ? { domains: id } : {}
}
