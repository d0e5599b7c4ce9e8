import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { previewableCommand, runPreviewable, type Previewable } from '../authz/previewable.ts'
import { ON_WHAT } from '../authz/question.ts'
import { ROLES } from '../../../shared/roles.ts'
import { missingOf } from '../authz/triple.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { placeFlag } from '../../derive/places.ts'
import type { ExitCode } from '../../errors/exit-code.ts'
import type { ArgumentSpec, FlagSpecs } from '../../argv/flags.ts'
import { existingGrant } from './existing-grant.ts'
import { assertObjectNamed, grantPlace, type GrantPlace } from './place.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { CAVEAT, withCaveat } from '../tuples/caveat-flag.ts'
import { createEdit, deleteEdit, grantEdit } from '../tuples/edits.ts'
import { operationOf } from '../../session/noun-lists.ts'

export const OBJECT: ArgumentSpec = {
  name: 'object',
  describe: `${ON_WHAT}; the Domain when absent`,
  noun: 'objects',
  required: false,
}

const rolesOf = (type: string): string => ROLES[type]?.join(', ') ?? ''

/** The contract describes the roles of Domains and nodes alone. */
const ROLE = `Role; on a Domain ${rolesOf('domain')}; on a Project ${rolesOf('project')}; on a node ${rolesOf('node')}; on other objects of a Project ${rolesOf('resource')}; on the platform ${rolesOf('platform')}`

/** Where names of Projects and of objects in them are looked up. */
export const PLACES: FlagSpecs = { domain: placeFlag('domains'), project: placeFlag('projects') }

export function createGrant(manifest: Manifest): Command {
  const command = previewableCommand(manifest, {
    operation: operationOf(manifest, 'CreateDomainGrant'),
    examples: [
      'ctl grants create user:alice operator domain:lab',
      'ctl grants create service:ci deployer project:web --dry-run',
      'ctl grants create user:bob operator node:web-1',
      'ctl grants create user:dora admin platform',
    ],
    editsOf: grantEdit('create'),
  })
  const { resource: _, ...flags } = command.flags ?? {}
  return {
    ...command,
    description: 'A role that is held already is no failure: nothing is changed, and the exit code is 0.',
    args: [
      ...(command.args ?? []).map((each) => (each.name === 'relation' ? { ...each, describe: ROLE } : each)),
      OBJECT,
    ],
    flags: { ...flags, ...PLACES, caveat: CAVEAT },
    run: (session, given) => create(session, manifest, given),
  }
}

async function create(session: Session, manifest: Manifest, { args, flags }: Given): Promise<ExitCode | void> {
  const [subject = '', role = '', object] = args
  assertObjectNamed(object, flags, `grants create ${subject} ${role}`)
  const place = object === undefined ? undefined : await grantPlace(session, createResolver(session), object)
  const roleOf = (): { type: string; role: string } => ({ type: typeOf(place, object), role })
  const shared = { roleOf, isRepeatable: true, examples: [] }
  if (place?.on === 'project' && object !== undefined) {
    const plan: Previewable = {
      ...shared,
      operation: operationOf(manifest, 'CreateRelationTuple'),
      editsOf: createEdit,
    }
    const where = { args: [subject, role, object], flags: { ...withCaveat(flags), project: place.project } }
    return runPreviewable(session, where, plan)
  }
  if (flags['caveat'] !== undefined) throw usageError('--caveat goes with roles in a Project only')
  const id = place?.on === 'platform' ? 'CreatePlatformGrant' : 'CreateDomainGrant'
  const plan: Previewable = { ...shared, operation: operationOf(manifest, id), editsOf: grantEdit('create') }
  return runPreviewable(session, { args: args.slice(0, 2), flags: { ...flags, ...flagsOf(place) } }, plan)
}

function typeOf(place: GrantPlace | undefined, object = 'domain'): string {
  return place?.on === 'platform' ? 'platform' : (object.split(':')[0] ?? '')
}

/** The place as flags of the derived command; nothing where the older form says it itself. */
function flagsOf(place: GrantPlace | undefined): Given['flags'] {
  if (place?.on !== 'domain') return {}
  return { domain: place.domain, ...(place.node !== undefined && { resource: place.node }) }
}

export function deleteGrant(manifest: Manifest): Command {
  const command = previewableCommand(manifest, {
    operation: operationOf(manifest, 'DeleteDomainGrant'),
    examples: [
      'ctl grants delete user:alice operator domain:lab',
      'ctl grants delete service:ci deployer project:web --dry-run',
      'ctl grants delete 7c2a91',
    ],
    editsOf: grantEdit('delete'),
  })
  const { args: [grant] = [] } = command
  return {
    ...command,
    description:
      'Takes subject, role and object as when it was created, or its id. An id alone means a grant of the Domain; for a role in a Project use `ctl tuples delete ID`.',
    args: grant === undefined ? [] : [{ ...grant, name: 'grant', describe: 'SUBJECT ROLE OBJECT, or ids' }],
    flags: { ...command.flags, ...PLACES },
    run: (session, given) => (isTriple(given) ? remove(session, manifest, given) : command.run(session, given)),
  }
}

/** Ids have no colon, and every subject but oneself has one. */
function isTriple({ args: [subject = ''] }: Given): boolean {
  return subject === 'me' || subject.includes(':')
}

async function remove(session: Session, manifest: Manifest, { args, flags }: Given): Promise<ExitCode | void> {
  const [subject = '', role, object, ...more] = args
  if (role === undefined || object === undefined)
    throw usageError(
      `${missingOf({ subject, role, object })} is missing`,
      'Write it as: ctl grants delete <subject> <role> <object>',
    )
  if (more.length > 0) throw usageError('one grant at a time', 'ctl grants delete <subject> <role> <object>')
  const place = await grantPlace(session, createResolver(session), object)
  const id = await existingGrant(session, place, { subject, role, object })
  const resource = place.on === 'domain' ? place.node : undefined
  const plan: Previewable = {
    operation: operationOf(manifest, DELETIONS[place.on]),
    object: { id, label: `${subject} ${role} ${object}` },
    examples: [],
    editsOf: (target) => (place.on === 'project' ? deleteEdit(target) : grantEdit('delete', resource)(target)),
  }
  const where = place.on === 'domain' ? { ...flags, domain: place.domain } : flags
  return runPreviewable(session, { args: [id], flags: where }, plan)
}

const DELETIONS = {
  platform: 'DeletePlatformGrant',
  domain: 'DeleteDomainGrant',
  project: 'DeleteRelationTuple',
} as const

export function createPlatformGrant(manifest: Manifest): Command {
  return previewableCommand(manifest, {
    operation: operationOf(manifest, 'CreatePlatformGrant'),
    examples: ['ctl grants platform create user:alice admin --dry-run'],
    editsOf: grantEdit('create'),
    isRepeatable: true,
    roleOf: ({ args: [, role = ''] }) => ({ type: 'platform', role }),
  })
}

export function deletePlatformGrant(manifest: Manifest): Command {
  return previewableCommand(manifest, {
    operation: operationOf(manifest, 'DeletePlatformGrant'),
    examples: ['ctl grants platform delete 7c2a91 --dry-run'],
    editsOf: grantEdit('delete'),
  })
}
