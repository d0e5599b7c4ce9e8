import { expect, test } from 'vitest'
import { SERVICE_MODEL } from '../../../src/shared/authz/service-model.ts'
import { ROLES, rolesGranting } from '../../../src/shared/roles.ts'
import { engineOf } from '../../support/authz/tuples.ts'

/** One object of each type. The Cloud has no consumer, since that is a grant but not a role. */
const IDS: { readonly [type: string]: string } = {
  platform: 'main',
  domain: 'acme',
  project: 'web',
  resource: 'relay',
  network: 'lan',
  workload: 'shop',
  node: 'edge',
  user: 'ann',
  serviceaccount: 'robot',
  group: 'staff',
  cloud: 'north',
  cloudcredential: 'key',
  provider_bundle: 'base',
  labeldefinition: 'tier',
  token: 'ann-s',
}

const PARENTS = [
  'domain:acme#platform@platform:main',
  'project:web#domain@domain:acme',
  'resource:relay#project@project:web',
  'network:lan#project@project:web',
  'workload:shop#project@project:web',
  'node:edge#domain@domain:acme',
  'node:edge#project@project:web',
  'user:ann#domain@domain:acme',
  'serviceaccount:robot#domain@domain:acme',
  'group:staff#domain@domain:acme',
  'cloud:north#platform@platform:main',
  'cloudcredential:key#cloud@cloud:north',
  'provider_bundle:base#platform@platform:main',
  'labeldefinition:tier#project@project:web',
  'token:ann-s#owner@user:ann',
]

const permissions = SERVICE_MODEL.types.flatMap((type) =>
  type.permissions.map(({ name }) => [type.name, name] as const),
)
const roles = Object.entries(ROLES).flatMap(([type, names]) => names.map((role) => ({ type, role })))

function isGranted(type: string, permission: string, holder: { type: string; role: string }): boolean {
  const held = `${holder.type}:${IDS[holder.type]}#${holder.role}@user:holder`
  const { ask } = engineOf(SERVICE_MODEL, [...PARENTS, held])
  return ask(`${type}:${IDS[type]}#${permission}@user:holder`) === 'yes'
}

const label = ({ type, role }: { type: string; role: string }) => `${type}.${role}`

test.each(permissions)('the roles listed for %s %s are those that the schema grants it to', (type, permission) => {
  const listed = rolesGranting(type, permission).map(label)
  const granting = roles.filter((role) => isGranted(type, permission, role)).map(label)
  expect(listed.toSorted()).toEqual(granting.toSorted())
})

test('the nearest and least role comes first', () => {
  const first = (type: string, permission: string) => rolesGranting(type, permission).map(label)[0]
  expect(first('project', 'read')).toBe('project.viewer')
  expect(first('node', 'node-operate')).toBe('node.operator')
  expect(first('node', 'manage')).toBe('project.admin')
  expect(first('user', 'manage')).toBe('domain.admin')
  expect(first('domain', 'auditor')).toBe('domain.auditor')
})

test('the roles of a type are its relations that anybody may be granted', () => {
  const grantable = SERVICE_MODEL.types.map((type) => [
    type.name,
    type.relations
      .filter(({ structural }) => !structural)
      .map(({ name }) => name)
      .toSorted(),
  ])
  const withRoles = grantable.filter(([, names]) => names !== undefined && names.length > 0)
  const listed = Object.entries(ROLES).map(([type, names]) => [type, names.toSorted()])
  expect(listed.toSorted()).toEqual(withRoles.toSorted())
})

test('nothing grants what does not exist', () => {
  expect(rolesGranting('domain', 'fly')).toEqual([])
  expect(rolesGranting('disk', 'read')).toEqual([])
})
