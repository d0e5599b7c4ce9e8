import { expect, test } from 'vitest'
import { SERVICE_MODEL } from '../../../../src/shared/authz/service-model.ts'
import { OBJECTS, PARENT_EDGES } from '../../../support/authz/tree.ts'
import { engineOf } from '../../../support/authz/tuples.ts'

/**
 * Who holds what, written out: object, permission, and the roles of which each alone grants it. `self` is the object as
 * its own subject, `owner` the owner of the token. Every other role and every other permission is a denial.
 */
const MATRIX = `
platform:main              manage        platform.admin
platform:main              read          platform.admin platform.auditor platform.viewer
platform:main              auditor       platform.auditor
domain:acme                manage        platform.admin domain.admin
domain:acme                operate       platform.admin domain.admin domain.operator
domain:acme                maintainer    platform.admin domain.admin
domain:acme                read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer
domain:acme                domain-view   platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer
domain:acme                auditor       platform.auditor domain.auditor
project:web                manage        platform.admin domain.admin project.admin
project:web                deploy        platform.admin domain.admin domain.operator project.admin project.deployer
project:web                maintainer    platform.admin domain.admin project.admin
project:web                read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer
project:web                observe       platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer
resource:relay             manage        platform.admin domain.admin project.admin resource.maintainer
resource:relay             maintainer    platform.admin domain.admin project.admin resource.maintainer
resource:relay             read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer resource.maintainer resource.viewer
resource:relay             observe       platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer resource.maintainer resource.viewer
network:lan                manage        platform.admin domain.admin project.admin network.maintainer
network:lan                maintainer    platform.admin domain.admin project.admin network.maintainer
network:lan                read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer network.maintainer network.viewer
network:lan                observe       platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer network.maintainer network.viewer
workload:shop              manage        platform.admin domain.admin project.admin workload.maintainer
workload:shop              maintainer    platform.admin domain.admin project.admin workload.maintainer
workload:shop              read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer workload.maintainer workload.viewer
workload:shop              observe       platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer workload.maintainer workload.viewer
node:edge                  manage        platform.admin domain.admin project.admin
node:edge                  node-operate  platform.admin domain.admin domain.operator node.operator
node:edge                  node-agent    platform.admin domain.admin domain.operator node.operator node.agent
node:edge                  maintainer    platform.admin domain.admin domain.operator node.operator
node:edge                  read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer node.operator node.agent node.viewer
user:ann                   manage        platform.admin domain.admin
user:ann                   maintainer    platform.admin domain.admin
user:ann                   read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer self
serviceaccount:robot       manage        platform.admin domain.admin
serviceaccount:robot       maintainer    platform.admin domain.admin
serviceaccount:robot       read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer self
group:staff                manage        platform.admin domain.admin
group:staff                maintainer    platform.admin domain.admin
group:staff                read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer group.member
cloud:north                manage        platform.admin cloud.admin
cloud:north                operate       platform.admin cloud.admin cloud.operator
cloud:north                assign        platform.admin cloud.admin cloud.assigner
cloud:north                maintainer    platform.admin cloud.admin
cloud:north                observe       platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer cloud.admin cloud.operator cloud.auditor cloud.viewer
cloud:north                read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer cloud.admin cloud.operator cloud.auditor cloud.viewer
cloudcredential:key        manage        platform.admin cloud.admin cloudcredential.assigner
cloudcredential:key        assign        platform.admin cloud.admin cloudcredential.assigner
cloudcredential:key        maintainer    platform.admin cloud.admin cloudcredential.assigner
cloudcredential:key        read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer cloud.admin cloud.operator cloud.auditor cloud.viewer cloudcredential.assigner
provider_bundle:base       manage        platform.admin provider_bundle.admin
provider_bundle:base       maintainer    platform.admin provider_bundle.admin
provider_bundle:base       observe       platform.admin platform.auditor platform.viewer provider_bundle.admin provider_bundle.auditor provider_bundle.viewer
provider_bundle:base       read          platform.admin platform.auditor platform.viewer provider_bundle.admin provider_bundle.auditor provider_bundle.viewer
labeldefinition:everywhere manage        platform.admin
labeldefinition:everywhere assign        platform.admin labeldefinition.assigner
labeldefinition:everywhere read          platform.admin platform.auditor platform.viewer
labeldefinition:in-acme    manage        platform.admin domain.admin
labeldefinition:in-acme    assign        platform.admin domain.admin domain.operator labeldefinition.assigner
labeldefinition:in-acme    read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer
labeldefinition:in-web     manage        platform.admin domain.admin project.admin
labeldefinition:in-web     assign        platform.admin domain.admin domain.operator project.admin project.deployer labeldefinition.assigner
labeldefinition:in-web     read          platform.admin platform.auditor platform.viewer domain.admin domain.operator domain.auditor domain.viewer project.admin project.deployer project.viewer
token:ann-s                manage        platform.admin domain.admin owner
token:ann-s                read          platform.admin domain.admin owner
`

/** Every grantable role on every object, as the one tuple that somebody holds. */
function bindings(object: string): { label: string; tuples: string[]; subject: string }[] {
  const roleTuples = OBJECTS.flatMap((on) => {
    const type = on.slice(0, on.indexOf(':'))
    const isOtherOfType = on !== object && object.startsWith(`${type}:`)
    const relations = isOtherOfType ? [] : (SERVICE_MODEL.type(type)?.relations ?? [])
    return relations.filter(({ structural }) => !structural).map(({ name }) => ({ on, type, name }))
  })
  const holders = roleTuples.map(({ on, type, name }) => ({
    label: `${type}.${name}`,
    tuples: [`${on}#${name}@user:holder`],
    subject: 'user:holder',
  }))
  const owner = { label: object.startsWith('token:') ? 'owner' : 'self', tuples: [], subject: 'user:ann' }
  const itself = { label: 'self', tuples: [], subject: object }
  return [...holders, object.startsWith('user:') || object.startsWith('token:') ? owner : itself]
}

function holdersOf(object: string, permission: string): string[] {
  return bindings(object)
    .filter(({ tuples, subject }) => {
      const { ask } = engineOf(SERVICE_MODEL, [...PARENT_EDGES, ...tuples])
      return ask(`${object}#${permission}@${subject}`) === 'yes'
    })
    .map(({ label }) => label)
}

test('each role grants what the matrix says, and nothing else', () => {
  const rows = OBJECTS.flatMap((object) => {
    const type = SERVICE_MODEL.type(object.slice(0, object.indexOf(':')))
    return (type?.permissions ?? []).map(({ name }) => {
      return `${object.padEnd(26)} ${name.padEnd(13)} ${holdersOf(object, name).join(' ')}`
    })
  })
  expect(`\n${rows.join('\n')}\n`).toBe(MATRIX)
})

test('without any role nobody holds anything', () => {
  const { ask } = engineOf(SERVICE_MODEL, PARENT_EDGES)
  const granted = OBJECTS.flatMap((object) => {
    const type = SERVICE_MODEL.type(object.slice(0, object.indexOf(':')))
    return [...(type?.askable.keys() ?? [])].filter((name) => ask(`${object}#${name}@user:stranger`) !== 'no')
  })
  expect(granted).toEqual([])
})

test('an auditor of platform and Domain reads, and changes nothing', () => {
  const roles = ['platform:main#auditor@user:eve', 'domain:acme#auditor@user:eve']
  const { ask } = engineOf(SERVICE_MODEL, [...PARENT_EDGES, ...roles])
  const held = OBJECTS.flatMap((object) => {
    const type = SERVICE_MODEL.type(object.slice(0, object.indexOf(':')))
    return (type?.permissions ?? [])
      .map(({ name }) => name)
      .filter((name) => ask(`${object}#${name}@user:eve`) === 'yes')
  })
  expect(new Set(held)).toEqual(new Set(['read', 'auditor', 'observe', 'domain-view']))
})

test('every type can be managed and read', () => {
  const names = SERVICE_MODEL.types.map(({ askable }) => askable.has('manage') && askable.has('read'))
  expect(names).not.toContain(false)
})
