/** Types whose objects belong to one Domain, so that a role there reaches them (decisions: Authorization). */
const IN_DOMAIN: ReadonlySet<string> = new Set([
  'domain',
  'project',
  'resource',
  'network',
  'workload',
  'node',
  'user',
  'serviceaccount',
  'group',
  'token',
])

/** The least role on the Domain that carries a permission there. */
const DOMAIN_ROLES: Readonly<Record<string, string>> = {
  manage: 'admin',
  maintainer: 'admin',
  operate: 'operator',
  deploy: 'operator',
  'node-operate': 'operator',
  'node-agent': 'operator',
  read: 'viewer',
  observe: 'viewer',
  'domain-view': 'viewer',
  auditor: 'auditor',
}

/** Where a type has it otherwise. */
const EXCEPTIONS: Readonly<Record<string, string>> = { 'node maintainer': 'operator', 'token read': 'admin' }

const PLATFORM_ROLES: Readonly<Record<string, string>> = { manage: 'admin', read: 'viewer', auditor: 'auditor' }

/** The relation that lets somebody see an object of a type. */
export function seeingRelation(type: string): string {
  return ['resource', 'network', 'workload'].includes(type) ? 'observe' : 'read'
}

/** The command that would give a subject what it lacks; undefined where no single role does. */
export function grantCommand(missing: { subject: string; relation: string; object: string }): string | undefined {
  const { subject, relation, object } = missing
  const [type = '', id = ''] = object.split(':')
  if (type === 'platform') {
    const role = PLATFORM_ROLES[relation]
    return role === undefined ? undefined : `ctl grants platform create ${subject} ${role}`
  }
  const role = IN_DOMAIN.has(type) ? (EXCEPTIONS[`${type} ${relation}`] ?? DOMAIN_ROLES[relation]) : undefined
  if (role === undefined) return undefined
  return `ctl grants create ${subject} ${role}${type === 'domain' ? ` --domain ${id}` : ''}`
}
