import { relationsOn, ROLES } from '../../../shared/roles.ts'

/** Types that objects may have, as the model names them. */
export const OBJECT_TYPES: readonly string[] = [
  'platform',
  'domain',
  'project',
  'resource',
  'network',
  'workload',
  'node',
  'group',
  'user',
  'serviceaccount',
  'cloud',
  'cloudcredential',
  'provider_bundle',
  'labeldefinition',
  'token',
]

/** Types of those that act; groups only lend what they hold. */
export const SUBJECT_TYPES: readonly string[] = ['user', 'serviceaccount']

/** What can be done to objects of a type: its permissions, without the roles that only give them. */
export function permissionsOn(type: string): readonly string[] {
  const roles = new Set(ROLES[type])
  return relationsOn(type).filter((relation) => !roles.has(relation))
}
