import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { CLOUD_FLAGS } from './catalogue-flags.ts'
import { Cloud, CloudCreateRequest, CloudPatchRequest } from './catalogue-schemas.ts'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'
import { check, defineSurface, open, OPERATOR } from './operation.ts'
import { nonEmptyPatch } from './patch.ts'

const params = z.strictObject({ id: uuidField('invalid_cloud_id', 'Cloud') })
const object = 'cloud:{path.id}'
const columns = ['slug', 'provider', 'provider_bundle_slug', 'provider_bundle_version', 'external_id', 'id']
const wide = ['display_name', 'provider_config_api_version', 'provider_packages']
const refs = { id: 'clouds' }
const bundleRef = { provider_bundle_id: 'bundles' }
const common = { credentials: OPERATOR, notProvisioned: 'clouds_not_provisioned' } as const

/** What a bundle reference may be refused for, once the caller may name the bundle. */
const OF_REFERENCE = [
  'invalid_cloud_provider_mode',
  'unknown_provider_bundle',
  'provider_bundle_provider_mismatch',
  'provider_bundle_version_not_found',
] as const

export const clouds = defineSurface(
  'clouds',
  {
    summary: 'Accounts at cloud platforms that resources are provisioned in',
    nouns: {
      clouds: {
        section: 'Catalogue',
        position: 1,
        types: ['cloud'],
        files: runtime('Belong to the platform, not to a Domain'),
      },
    },
  },
  {
    CreateCloud: {
      ...common,
      method: 'POST',
      path: '/v1/clouds',
      summary: 'Create a Cloud',
      description:
        'It has packages of its own (`provider_packages` with `provider_config_api_version`) or a bundle (`provider_bundle_id`), never both.',
      body: CloudCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'platform:main'),
      audit: { relation: 'cloud.create', when: 'all' },
      responses: { 201: Cloud },
      headers: { Location: 'Path of the new Cloud' },
      problems: ['slug_conflict', ...OF_REFERENCE],
      cli: {
        command: 'clouds create',
        args: ['slug'],
        sameAs: { display_name: 'slug' },
        refs: bundleRef,
        flags: CLOUD_FLAGS,
        columns,
        wide,
        handle: { member: 'slug', taken: 'slug_conflict' },
        done: 'Created Cloud {slug} ({id}).',
        examples: [
          'clouds create eu1 --provider hetzner --bundle hetzner-base --endpoint api_url=https://api.hetzner.cloud/v1',
          'clouds create lab --provider aws --endpoint account_id=123456789012 --package oci://registry.example.com/provider-aws@v1.2 --config-api-version v1beta1',
        ],
      },
    },
    ListClouds: {
      ...common,
      method: 'GET',
      path: '/v1/clouds',
      summary: 'List the Clouds that you may observe',
      description: 'Clouds on which the caller does not hold `observe` are left out.',
      query: z.strictObject(pageQuery),
      gate: {
        ...open('each row is filtered by the relation observe'),
        rows: { relation: 'observe', object: 'cloud:{row.id}' },
      },
      audit: { relation: 'cloud.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(Cloud).meta({ id: 'CloudList', description: 'A page of Clouds.' }) },
      problems: [],
      cli: { command: 'clouds list', columns, wide },
    },
    GetCloud: {
      ...common,
      method: 'GET',
      path: '/v1/clouds/{id}',
      summary: 'Show a Cloud with its effective packages',
      description: 'The packages are its own, or those of the pinned version of its bundle with its overrides.',
      params,
      gate: check('observe', object),
      audit: { relation: 'cloud.read', when: 'all' },
      responses: { 200: Cloud },
      problems: ['cloud_not_found'],
      cli: { command: 'clouds show', args: ['id'], refs, columns, wide },
    },
    PatchCloud: {
      ...common,
      method: 'PATCH',
      path: '/v1/clouds/{id}',
      summary: 'Change a Cloud, or what its provider configuration comes from',
      description:
        'A bundle id moves the Cloud to that bundle, a version alone to another version of its bundle. Both need `observe` on the bundle, or `manage` on the platform. Both inline members move it back to packages of its own, without its overrides. Lists replace what was there.',
      params,
      body: CloudPatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 8 * KiB,
      gate: check('manage', object),
      audit: { relation: 'cloud.update', when: 'all' },
      responses: { 200: Cloud },
      problems: ['cloud_not_found', 'provider_bundle_reference_moved', ...OF_REFERENCE],
      cli: {
        command: 'clouds update',
        args: ['id'],
        refs: { ...refs, ...bundleRef },
        flags: CLOUD_FLAGS,
        columns,
        wide,
        done: 'Changed Cloud {slug}.',
        examples: ['clouds update eu1 --bundle hetzner-base', 'clouds update eu1 --region-default location=fsn1'],
      },
    },
    DeleteCloud: {
      ...common,
      method: 'DELETE',
      path: '/v1/clouds/{id}',
      summary: 'Delete a Cloud that has no credentials',
      description: 'What it was lent to Projects for ends with it.',
      params,
      gate: check('manage', object),
      audit: { relation: 'cloud.delete', when: 'all' },
      responses: { 204: null },
      problems: ['cloud_not_found', 'cloud_not_empty'],
      cli: { command: 'clouds delete', args: ['id'], refs, confirm: 'typed', done: 'Deleted Cloud {id}.' },
    },
  },
)
