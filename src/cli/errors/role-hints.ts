import { rolesGranting } from '../../shared/roles.ts'

/** Types of objects on which a role can be granted alone. A role of more than what is missing is no way out. */
const OWN_PLACES: ReadonlySet<string> = new Set(['platform', 'project', 'resource', 'network', 'workload'])

/** The relation that lets somebody see an object of a type. */
export function seeingRelation(type: string): string {
  return ['resource', 'network', 'workload'].includes(type) ? 'observe' : 'read'
}

/**
 * The command that would give a subject what it lacks: the least role on the resource, the Project or the platform where it
 * lacks it there, else on the Domain; undefined where none is sure to do. A definition of labels may hang off the platform, where no Domain reaches it.
 */
export function grantCommand(missing: { subject: string; relation: string; object: string }): string | undefined {
  const { subject, relation, object } = missing
  const [type = ''] = object.split(':')
  const place = OWN_PLACES.has(type) ? type : 'domain'
  const granting = type === 'labeldefinition' ? [] : rolesGranting(type, relation)
  const found = granting.find((one) => one.type === place)
  if (found === undefined) return undefined
  const on = place === 'platform' ? ' platform' : place === type ? ` ${object}` : ''
  return `ctl grants create ${subject} ${found.role}${on}`
}
