import type { FileDocument } from '../document.ts'
import type { ValueFault } from '../schema/value-fault.ts'
import type { Catalogue } from './catalogue.ts'

const SUBJECT = /^(?:user|service|serviceaccount|group):./su

/** Members of a group that are no subjects. A bare name says no type: a person and a service identity may both have it. */
export function memberFaults({ references }: Catalogue, { kind, members }: FileDocument): readonly ValueFault[] {
  const listed: readonly unknown[] = kind === 'group' && Array.isArray(members['members']) ? members['members'] : []
  return listed.flatMap((member, index) => {
    const name = String(member)
    if (SUBJECT.test(name)) return []
    const meant = references.find((one) => SUBJECT.test(one) && one.endsWith(`:${name}`))
    const near = meant === undefined ? '' : `; did you mean ${meant}?`
    return [
      {
        path: ['members', index],
        message: `${JSON.stringify(name)} names no member; expected user:NAME, service:NAME or group:NAME${near}`,
      },
    ]
  })
}
