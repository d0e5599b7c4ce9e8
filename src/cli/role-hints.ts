/** The role that carries a permission, as the roles that `grants create` knows: on the platform, or on a Domain and so on all that it holds (decisions: Authorization). */
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
  const role = DOMAIN_ROLES[relation]
  if (role === undefined) return undefined
  return `ctl grants create ${subject} ${role}${type === 'domain' ? ` --domain ${id}` : ''}`
}
