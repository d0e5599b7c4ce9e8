import { ROLES } from '../../../shared/roles.ts'
import { isRow, type Row } from '../../output/members.ts'
import { isSame } from '../canonical.ts'
import type { FileDocument } from '../document.ts'
import type { ValueFault } from '../schema/value-fault.ts'
import type { Catalogue } from './catalogue.ts'

/** Roles that objects of their type do not have, and objects that are none. */
export function roleFaults(catalogue: Catalogue, document: FileDocument): readonly ValueFault[] {
  if (document.kind !== 'grants') return []
  const present = rolesIn(catalogue.liveOf(document)?.members['roles'])
  return rolesIn(document.members['roles']).flatMap((role, index) => {
    if (present.some((one) => isSame(one, role))) return []
    return faultsOf(catalogue, role).map(({ path, ...fault }) => ({ path: ['roles', index, ...path], ...fault }))
  })
}

function rolesIn(value: unknown): readonly Row[] {
  return Array.isArray(value) ? value.filter(isRow) : []
}

function faultsOf({ names }: Catalogue, { on, role }: Row): readonly ValueFault[] {
  const object = String(on)
  const [type = ''] = object.split(':')
  const roles = Object.hasOwn(ROLES, type) ? ROLES[type] : undefined
  if (type === 'domain' && object !== 'domain')
    return [
      { path: ['on'], message: `roles are given on the Domain of the files (${names.domainSlug}); write on: domain` },
    ]
  if (roles === undefined || (type !== 'domain' && !object.includes(':')))
    return [
      {
        path: ['on'],
        message: `${JSON.stringify(object)} names no object with roles; expected domain, project:NAME or resource:PROJECT/NAME`,
        ...(object.includes(':') && { unknown: { word: type, known: Object.keys(ROLES) } }),
      },
    ]
  if (roles.includes(String(role))) return []
  const message = `${JSON.stringify(role)} is no role on a ${type}; it has ${roles.join(', ')}`
  return [{ path: ['role'], message, unknown: { word: String(role), known: roles } }]
}
