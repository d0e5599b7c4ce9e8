import { describe, expect, it } from 'vitest'
import { createObjectDomains } from '../../../../../src/server/adapters/embedded-authz/object-domain.ts'
import { SERVICE_MODEL } from '../../../../../src/shared/authz/service-model.ts'
import { OBJECTS, PARENT_EDGES } from '../../../../support/authz/tree.ts'
import { engineOf } from '../../../../support/authz/tuples.ts'

const DOMAIN = '01935b5e-8f3a-7c61-9d0a-00000000000a'

describe('the Domain of an object', () => {
  const { index } = engineOf(SERVICE_MODEL, [
    ...PARENT_EDGES,
    'domain:acme#admin@user:stranger',
    'domain:acme#viewer@user:*',
    'group:lost#member@user:ann',
    `domain:${DOMAIN}#platform@platform:main`,
    `node:far#domain@domain:${DOMAIN}`,
  ])
  const domainOf = createObjectDomains(SERVICE_MODEL)

  it('is known of every kind of object, by its parent edges', () => {
    expect(Object.fromEntries(OBJECTS.map((object) => [object, domainOf(index, object)]))).toEqual({
      'platform:main': null,
      'domain:acme': 'acme',
      'project:web': 'acme',
      'resource:relay': 'acme',
      'network:lan': 'acme',
      'workload:shop': 'acme',
      'node:edge': 'acme',
      'user:ann': 'acme',
      'serviceaccount:robot': 'acme',
      'group:staff': 'acme',
      'cloud:north': null,
      'cloudcredential:key': null,
      'provider_bundle:base': null,
      'labeldefinition:everywhere': null,
      'labeldefinition:in-acme': 'acme',
      'labeldefinition:in-web': 'acme',
      'token:ann-s': 'acme',
    })
  })

  it.each([
    ['that has only roles', 'user:stranger'],
    ['that has only members', 'group:lost'],
    ['that stands for everyone', 'user:*'],
    ['without tuples', 'node:none'],
    ['that would be another platform', 'platform:other'],
    ['that would be another Domain', 'domain:none'],
    ['of an unknown type', 'robot:x'],
    ['that is no reference', 'acme'],
    ['that is a set', 'group:staff#member'],
  ])('is unknown of one %s', (_what, reference) => {
    expect(domainOf(index, reference)).toBeUndefined()
  })

  it('is told in the stored form of its id, however the reference is written', () => {
    expect(domainOf(index, `domain:${DOMAIN.toUpperCase()}`)).toBe(DOMAIN)
    expect(domainOf(index, 'node:far')).toBe(DOMAIN)
  })
})
