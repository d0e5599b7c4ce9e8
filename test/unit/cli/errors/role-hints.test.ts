import { describe, expect, it } from 'vitest'
import { grantCommand } from '../../../../src/cli/errors/role-hints.ts'
import { SERVICE_MODEL } from '../../../../src/shared/authz/service-model.ts'
import { OBJECTS, PARENT_EDGES } from '../../../support/authz/tree.ts'
import { engineOf } from '../../../support/authz/tuples.ts'

/** Roles from the least to the most; an auditor reads, so a viewer comes before. */
const ROLES = ['viewer', 'auditor', 'operator', 'deployer', 'maintainer', 'admin']

const ELSEWHERE = ['cloud', 'cloudcredential', 'provider_bundle', 'labeldefinition']

function leastRole(object: string, permission: string): string | undefined {
  const on = /^(platform|project|resource|network|workload):/.test(object) ? object : 'domain:acme'
  const known = SERVICE_MODEL.type(on.split(':')[0] ?? '')?.relations.map(({ name }) => name) ?? []
  return ROLES.filter((role) => known.includes(role)).find((role) => {
    const { ask } = engineOf(SERVICE_MODEL, [...PARENT_EDGES, `${on}#${role}@user:holder`])
    return ask(`${object}#${permission}@user:holder`) === 'yes'
  })
}

function permissionsOf(object: string): readonly string[] {
  return SERVICE_MODEL.type(object.split(':')[0] ?? '')?.permissions.map(({ name }) => name) ?? []
}

const within = OBJECTS.filter((object) => !ELSEWHERE.includes(object.split(':')[0] ?? ''))
const questions = within.flatMap((object) => permissionsOf(object).map((permission) => [permission, object] as const))

describe('The command that would grant it', () => {
  it.each(questions)('gives the least role that the schema gives %s on %s', (relation, object) => {
    const role = leastRole(object, relation)
    const command = grantCommand({ subject: 'user:holder', relation, object })
    expect(command?.split(' ').find((word) => ROLES.includes(word))).toBe(role)
  })

  it.each([
    ['manage', 'platform:main', 'ctl grants create user:ann admin platform'],
    ['operate', 'domain:019c', 'ctl grants create user:ann operator domain:019c'],
    ['deploy', 'project:019c', 'ctl grants create user:ann deployer project:019c'],
    ['manage', 'resource:019c', 'ctl grants create user:ann maintainer resource:019c'],
    ['node-operate', 'node:019c', 'ctl grants create user:ann operator'],
  ])('of %s on %s is %s', (relation, object, command) => {
    expect(grantCommand({ subject: 'user:ann', relation, object })).toBe(command)
  })

  it.each(ELSEWHERE)('is not guessed for a %s, which no role on a Domain need reach', (type) => {
    expect(grantCommand({ subject: 'user:ann', relation: 'manage', object: `${type}:x` })).toBeUndefined()
  })
})
