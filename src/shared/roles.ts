/** A role on an object of a type, `<type>.<role>`: on the object itself, or on one of its ancestors. */
export type RoleOn = `${string}.${string}`

/** Roles that can be granted, by type of object, the weakest first. */
export const ROLES: { readonly [type: string]: readonly string[] } = {
  platform: ['viewer', 'auditor', 'admin'],
  domain: ['viewer', 'auditor', 'operator', 'admin'],
  project: ['viewer', 'deployer', 'admin'],
  resource: ['viewer', 'maintainer'],
  network: ['viewer', 'maintainer'],
  workload: ['viewer', 'maintainer'],
  node: ['viewer', 'agent', 'operator'],
  group: ['member'],
  cloud: ['viewer', 'auditor', 'assigner', 'operator', 'admin'],
  cloudcredential: ['assigner'],
  provider_bundle: ['viewer', 'auditor', 'admin'],
  labeldefinition: ['assigner'],
}

const PLATFORM_READ: readonly RoleOn[] = ['platform.viewer', 'platform.auditor', 'platform.admin']
const DOMAIN_MANAGE: readonly RoleOn[] = ['domain.admin', 'platform.admin']
const DOMAIN_OPERATE: readonly RoleOn[] = ['domain.operator', ...DOMAIN_MANAGE]
const DOMAIN_READ: readonly RoleOn[] = [
  'domain.viewer',
  'domain.auditor',
  'domain.operator',
  'domain.admin',
  ...PLATFORM_READ,
]
const PROJECT_MANAGE: readonly RoleOn[] = ['project.admin', ...DOMAIN_MANAGE]
const PROJECT_DEPLOY: readonly RoleOn[] = ['project.deployer', 'project.admin', ...DOMAIN_OPERATE]
const PROJECT_READ: readonly RoleOn[] = ['project.viewer', 'project.deployer', 'project.admin', ...DOMAIN_READ]
const CLOUD_MANAGE: readonly RoleOn[] = ['cloud.admin', 'platform.admin']
const CLOUD_READ: readonly RoleOn[] = [
  'cloud.viewer',
  'cloud.auditor',
  'cloud.operator',
  'cloud.admin',
  ...PLATFORM_READ,
]
const CREDENTIAL_MANAGE: readonly RoleOn[] = ['cloudcredential.assigner', ...CLOUD_MANAGE]
const BUNDLE_MANAGE: readonly RoleOn[] = ['provider_bundle.admin', 'platform.admin']
const BUNDLE_READ: readonly RoleOn[] = [
  'provider_bundle.viewer',
  'provider_bundle.auditor',
  'provider_bundle.admin',
  ...PLATFORM_READ,
]

type Grants = { readonly [permission: string]: readonly RoleOn[] }

const inProject = (type: 'resource' | 'network' | 'workload'): Grants => ({
  manage: [`${type}.maintainer`, ...PROJECT_MANAGE],
  maintainer: [`${type}.maintainer`, ...PROJECT_MANAGE],
  read: [`${type}.viewer`, `${type}.maintainer`, ...PROJECT_READ],
  observe: [`${type}.viewer`, `${type}.maintainer`, ...PROJECT_READ],
})

/**
 * Roles that grant each permission, by type of object: those nearest to the object first, among them the one that allows
 * least. A test compares the table with the schema. Left out are grants that are no roles: of oneself, of a token's
 * owner, and of a Project with an approved assignment.
 */
const GRANTED_BY: { readonly [type: string]: Grants } = {
  platform: { manage: ['platform.admin'], read: PLATFORM_READ, auditor: ['platform.auditor'] },
  domain: {
    manage: DOMAIN_MANAGE,
    operate: DOMAIN_OPERATE,
    maintainer: DOMAIN_MANAGE,
    read: DOMAIN_READ,
    'domain-view': DOMAIN_READ,
    auditor: ['domain.auditor', 'platform.auditor'],
  },
  project: {
    manage: PROJECT_MANAGE,
    deploy: PROJECT_DEPLOY,
    maintainer: PROJECT_MANAGE,
    read: PROJECT_READ,
    observe: PROJECT_READ,
  },
  resource: inProject('resource'),
  network: inProject('network'),
  workload: inProject('workload'),
  node: {
    manage: PROJECT_MANAGE,
    'node-operate': ['node.operator', ...DOMAIN_OPERATE],
    'node-agent': ['node.agent', 'node.operator', ...DOMAIN_OPERATE],
    maintainer: ['node.operator', ...DOMAIN_OPERATE],
    read: ['node.viewer', 'node.agent', 'node.operator', ...PROJECT_READ],
  },
  user: { manage: DOMAIN_MANAGE, maintainer: DOMAIN_MANAGE, read: DOMAIN_READ },
  serviceaccount: { manage: DOMAIN_MANAGE, maintainer: DOMAIN_MANAGE, read: DOMAIN_READ },
  group: { manage: DOMAIN_MANAGE, maintainer: DOMAIN_MANAGE, read: ['group.member', ...DOMAIN_READ] },
  cloud: {
    manage: CLOUD_MANAGE,
    operate: ['cloud.operator', ...CLOUD_MANAGE],
    assign: ['cloud.assigner', ...CLOUD_MANAGE],
    maintainer: CLOUD_MANAGE,
    observe: CLOUD_READ,
    read: CLOUD_READ,
  },
  cloudcredential: {
    manage: CREDENTIAL_MANAGE,
    assign: CREDENTIAL_MANAGE,
    maintainer: CREDENTIAL_MANAGE,
    read: ['cloudcredential.assigner', ...CLOUD_READ],
  },
  provider_bundle: { manage: BUNDLE_MANAGE, maintainer: BUNDLE_MANAGE, observe: BUNDLE_READ, read: BUNDLE_READ },
  labeldefinition: {
    manage: PROJECT_MANAGE,
    assign: ['labeldefinition.assigner', ...PROJECT_DEPLOY],
    read: PROJECT_READ,
  },
  token: { manage: DOMAIN_MANAGE, read: DOMAIN_MANAGE },
}

/** The roles that grant a permission on objects of a type, the nearest and least first; none where there is no such permission. */
export function rolesGranting(type: string, permission: string): readonly { type: string; role: string }[] {
  return (GRANTED_BY[type]?.[permission] ?? []).map((roleOn) => {
    const [on = '', role = ''] = roleOn.split('.')
    return { type: on, role }
  })
}

/** The relations that can be checked on objects of a type: permissions, then roles; none where the type is not known. */
export function relationsOn(type: string): readonly string[] {
  return [...new Set([...Object.keys(GRANTED_BY[type] ?? {}), ...(ROLES[type] ?? [])])]
}
