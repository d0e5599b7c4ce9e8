import { describe, expect, it } from 'vitest'
import { PROVIDER_NAMES, PROVIDERS, type ProviderName } from '../../../../src/shared/catalogue/providers/index.ts'
import { holdsSecretName } from '../../../../src/shared/catalogue/secret-names.ts'

const UUID = '01935B5E-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const ZERO = '00000000-0000-0000-0000-000000000000'
const ACCOUNT = '123456789012'

describe('the endpoint of a Cloud', () => {
  it.each<[ProviderName, object, string]>([
    ['aws', { account_id: ACCOUNT }, ACCOUNT],
    ['aws', { account_id: ACCOUNT, partition: 'aws-us-gov', sts_endpoint: 'https://sts.example', more: [1] }, ACCOUNT],
    ['azure', { tenant_id: UUID, subscription_id: UUID, environment: 'AzureUSGovernment' }, UUID],
    ['gcp', { project_id: 'web-prod-1', universe_domain: 'apis-s3ns.fr' }, 'web-prod-1'],
    ['gcp', { project_id: 'example.com:web-prod' }, 'example.com:web-prod'],
    ['hetzner', {}, 'api.hetzner.cloud'],
    ['hetzner', { api_url: 'https://API.hetzner.example:8443/v1?x=1' }, 'api.hetzner.example:8443'],
    ['openstack', { auth_url: 'https://keystone.example/v3', project_id: 'a'.repeat(32) }, 'a'.repeat(32)],
    ['openstack', { auth_url: 'https://[::1]:5000', project_id: 'p', interface: 'internal' }, 'p'],
  ])('of %s may be %j, and gives external_id', (name, endpoint, externalId) => {
    expect(PROVIDERS[name].endpoint.safeParse(endpoint)).toEqual({ success: true, data: endpoint })
    expect(PROVIDERS[name].externalIdOf({ ...endpoint })).toBe(externalId)
  })

  it.each<[ProviderName, object, string]>([
    ['aws', {}, 'account_id'],
    ['aws', { account_id: '12345678901' }, 'account_id'],
    ['aws', { account_id: 123456789012 }, 'account_id'],
    ['aws', { account_id: ACCOUNT, partition: 'azure' }, 'partition'],
    ['aws', { account_id: ACCOUNT, sts_endpoint: 'http://sts.example' }, 'sts_endpoint'],
    ['azure', { tenant_id: UUID }, 'subscription_id'],
    ['azure', { tenant_id: ZERO, subscription_id: UUID }, 'tenant_id'],
    ['azure', { tenant_id: UUID, subscription_id: UUID, environment: '' }, 'environment'],
    ['gcp', { project_id: 'web' }, 'project_id'],
    ['gcp', { project_id: 'Web-Prod-1' }, 'project_id'],
    ['gcp', { project_id: 'web-prod-1', universe_domain: 'local' }, 'universe_domain'],
    ['hetzner', { api_url: 'api.hetzner.cloud' }, 'api_url'],
    ['hetzner', { api_url: 'https://user:pw@h.example' }, 'api_url'],
    ['hetzner', { api_url: 'https://h.example/#x' }, 'api_url'],
    ['hetzner', { api_url: 'https://h.example/a b' }, 'api_url'],
    ['hetzner', { api_url: 'https:h.example' }, 'api_url'],
    ['hetzner', { api_url: `https://h.example/${'a'.repeat(2048)}` }, 'api_url'],
    ['hetzner', { api_url: null }, 'api_url'],
    ['openstack', { project_id: 'p' }, 'auth_url'],
    ['openstack', { auth_url: 'https://k.example', project_id: 'a/b' }, 'project_id'],
    ['openstack', { auth_url: 'https://k.example', project_id: 'p', interface: 'private' }, 'interface'],
  ])('of %s may not be %j', (name, endpoint, member) => {
    const paths = PROVIDERS[name].endpoint.safeParse(endpoint).error?.issues.map(({ path }) => path[0])
    expect(paths).toEqual([member])
  })
})

describe('the region defaults of a Cloud', () => {
  it.each<[ProviderName, object]>([
    ['aws', { region: 'eu-central-1', availability_zone: 'eu-central-1a' }],
    ['azure', { location: 'westeurope', resource_group: 'rg_(web).1-a' }],
    ['gcp', { region: 'europe-west3', zone: 'europe-west3-a' }],
    ['hetzner', { location: 'fsn1', network_zone: 'eu-central' }],
    ['openstack', { region: 'RegionOne', availability_zone: 'nova' }],
  ])('of %s may be %j, in part, or others', (name, defaults) => {
    for (const given of [defaults, {}, { other: { deep: true } }]) {
      expect(PROVIDERS[name].regionDefaults.safeParse(given).success).toBe(true)
    }
    for (const member of Object.keys(defaults)) {
      for (const wrong of ['', 'a b', 7, 'a'.repeat(91)]) {
        expect(PROVIDERS[name].regionDefaults.safeParse({ ...defaults, [member]: wrong }).success).toBe(false)
      }
    }
  })

  it('are known for every provider', () => {
    expect(Object.keys(PROVIDERS)).toEqual([...PROVIDER_NAMES])
  })
})

describe('a member named like a secret', () => {
  it.each([
    { password: 'x' },
    { PASSWORD: 'x' },
    { token: null },
    { private_key: 'x' },
    { privateKey: 'x' },
    { 'client-secret': 'x' },
    { secret_access_key: 'x' },
    { api_key: 'x' },
    { a: { b: [{ c: { SecretRef: 'x' } }] } },
    { passphrase: {} },
    { application_credential_id: 'x' },
  ])('is found in %j', (value) => {
    expect(holdsSecretName(value)).toBe(true)
  })

  it.each([
    {},
    { region: 'secret' },
    { token_endpoint: 'https://x' },
    { passenger: 1, key: 2 },
    { list: ['password'] },
  ])('is not found in %j', (value) => {
    expect(holdsSecretName(value)).toBe(false)
  })

  it('is found however deep it is', () => {
    const deep = JSON.parse(`${'{"a":['.repeat(1000)}{"token":1}${']}'.repeat(1000)}`)
    expect(holdsSecretName(deep)).toBe(true)
  })
})
