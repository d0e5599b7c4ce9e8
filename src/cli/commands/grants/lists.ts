import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { namedListCommand } from '../authz/named-list.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import type { ExitCode } from '../../errors/exit-code.ts'
import { assertObjectNamed, grantPlace } from './place.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { OBJECT, PLACES } from './changes.ts'

export function listGrants(manifest: Manifest): Command {
  const command = namedListCommand(manifest, 'ListDomainGrants')
  const { resource: _, ...flags } = command.flags ?? {}
  return {
    ...command,
    args: [OBJECT],
    flags: { ...flags, ...PLACES },
    examples: [
      'ctl grants list',
      'ctl grants list project:web',
      'ctl grants list node:web-1',
      'ctl grants list platform',
    ],
    run: (session, given) => list(session, manifest, given),
  }
}

async function list(session: Session, manifest: Manifest, given: Given): Promise<ExitCode | undefined | void> {
  const [object, ...more] = given.args
  if (more.length > 0) throw usageError('one object at a time', 'See: ctl grants list --help')
  assertObjectNamed(object, given.flags, 'grants list')
  if (object === undefined) return namedListCommand(manifest, 'ListDomainGrants').run(session, { ...given, args: [] })
  const place = await grantPlace(session, createResolver(session), object)
  const flags = { ...given.flags }
  if (place.on === 'platform') return namedListCommand(manifest, 'ListPlatformGrants').run(session, { args: [], flags })
  if (place.on === 'domain') {
    const where = { ...flags, domain: place.domain, ...(place.node !== undefined && { resource: place.node }) }
    return namedListCommand(manifest, 'ListDomainGrants').run(session, { args: [], flags: where })
  }
  const where = { ...flags, project: place.project, resource: place.resource }
  return namedListCommand(manifest, 'ListRelationTuples').run(session, { args: [], flags: where })
}

export function listPlatformGrants(manifest: Manifest): Command {
  return namedListCommand(manifest, 'ListPlatformGrants')
}
