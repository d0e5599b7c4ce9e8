import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { BUNDLE_FLAGS } from './catalogue-flags.ts'
import {
  ProviderBundle,
  ProviderBundleCloudRef,
  ProviderBundleCreateRequest,
  ProviderBundlePatchRequest,
  ProviderBundleVersion,
} from './catalogue-schemas.ts'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'
import { check, defineSurface, open, OPERATOR } from './operation.ts'
import { nonEmptyPatch } from './patch.ts'

const params = z.strictObject({ id: uuidField('invalid_provider_bundle_id', 'Provider bundle') })
const object = 'provider_bundle:{path.id}'
const columns = ['slug', 'provider', 'latest_version', 'display_name', 'updated_at', 'id']
const wide = ['provider_config_api_version', 'provider_packages']
const refs = { id: 'bundles' }
const paging = { limit: 'rejected', cursor: 'caller' } as const
const common = { credentials: OPERATOR, notProvisioned: 'provider_bundles_not_provisioned' } as const

export const providerBundles = defineSurface(
  'provider-bundles',
  {
    summary: 'Provider configurations that several Clouds share, with their versions',
    nouns: {
      bundles: {
        section: 'Catalogue',
        position: 2,
        types: ['provider_bundle'],
        files: runtime('Belong to the platform, not to a Domain'),
      },
    },
  },
  {
    CreateProviderBundle: {
      ...common,
      method: 'POST',
      path: '/v1/provider-bundles',
      summary: 'Create a provider bundle and publish its version 1',
      description:
        'The grants of a new bundle follow a moment later. Until then every call about it is refused with 403, also to its creator, and lists leave it out: retry.',
      body: ProviderBundleCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'platform:main'),
      audit: { relation: 'provider_bundle.create', when: 'all' },
      responses: { 201: ProviderBundle },
      headers: { Location: 'Path of the new provider bundle' },
      problems: ['slug_conflict'],
      cli: {
        command: 'bundles create',
        args: ['slug'],
        sameAs: { display_name: 'slug' },
        flags: BUNDLE_FLAGS,
        columns,
        wide,
        handle: { member: 'slug', taken: 'slug_conflict' },
        done: 'Created bundle {slug} ({id}), version {latest_version}.',
      },
    },
    ListProviderBundles: {
      ...common,
      method: 'GET',
      path: '/v1/provider-bundles',
      summary: 'List the provider bundles that you may observe',
      description: 'Bundles on which the caller does not hold `observe` are left out.',
      query: z.strictObject(pageQuery),
      gate: {
        ...open('each row is filtered by the relation observe'),
        rows: { relation: 'observe', object: 'provider_bundle:{row.id}' },
      },
      audit: { relation: 'provider_bundle.read', when: 'all' },
      paging,
      responses: {
        200: pageOf(ProviderBundle).meta({ id: 'ProviderBundleList', description: 'A page of provider bundles.' }),
      },
      problems: [],
      cli: { command: 'bundles list', columns, wide },
    },
    GetProviderBundle: {
      ...common,
      method: 'GET',
      path: '/v1/provider-bundles/{id}',
      summary: 'Show a provider bundle with the packages of its latest version',
      description: 'Clouds stay at the version that they are pinned to, whatever the latest one is.',
      params,
      gate: check('observe', object),
      audit: { relation: 'provider_bundle.read', when: 'all' },
      responses: { 200: ProviderBundle },
      problems: ['provider_bundle_not_found'],
      cli: { command: 'bundles show', args: ['id'], refs, columns, wide },
    },
    PatchProviderBundle: {
      ...common,
      method: 'PATCH',
      path: '/v1/provider-bundles/{id}',
      summary: 'Rename a provider bundle, or publish a new version of its packages',
      description:
        'A patch of the packages, of the API version or of both publishes one new version, also where nothing differs; a member that it leaves out is taken from the latest version. Clouds stay at the version that they are pinned to.',
      params,
      body: ProviderBundlePatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 8 * KiB,
      gate: check('manage', object),
      audit: { relation: 'provider_bundle.update', when: 'all' },
      responses: { 200: ProviderBundle },
      problems: ['provider_bundle_not_found', 'provider_bundle_stale'],
      cli: {
        command: 'bundles update',
        args: ['id'],
        refs,
        flags: BUNDLE_FLAGS,
        columns,
        wide,
        done: 'Changed bundle {slug}; its latest version is {latest_version}.',
        examples: ['bundles update hetzner-base --package oci://registry.example.com/provider-hetzner@v1.5'],
      },
    },
    DeleteProviderBundle: {
      ...common,
      method: 'DELETE',
      path: '/v1/provider-bundles/{id}',
      summary: 'Delete a provider bundle that no Cloud references, with all its versions',
      description: 'A bundle that a Cloud references is refused with `provider_bundle_referenced`.',
      params,
      gate: check('manage', object),
      audit: { relation: 'provider_bundle.delete', when: 'all' },
      responses: { 204: null },
      problems: ['provider_bundle_not_found', 'provider_bundle_referenced'],
      cli: { command: 'bundles delete', args: ['id'], refs, confirm: 'typed', done: 'Deleted bundle {id}.' },
    },
    ListProviderBundleClouds: {
      ...common,
      method: 'GET',
      path: '/v1/provider-bundles/{id}/clouds',
      summary: 'List all Clouds that reference a provider bundle',
      description: 'No row is left out: a manager of the bundle sees every Cloud that references it.',
      params,
      query: z.strictObject(pageQuery),
      gate: check('manage', object),
      audit: { relation: 'provider_bundle.read', when: 'all' },
      paging,
      responses: {
        200: pageOf(ProviderBundleCloudRef).meta({
          id: 'ProviderBundleCloudRefList',
          description: 'A page of Clouds that reference a provider bundle.',
        }),
      },
      problems: ['provider_bundle_not_found'],
      cli: {
        command: 'bundles clouds',
        args: ['id'],
        refs,
        columns: ['slug', 'provider_bundle_version', 'display_name', 'cloud_id'],
      },
    },
    ListProviderBundleVersions: {
      ...common,
      method: 'GET',
      path: '/v1/provider-bundles/{id}/versions',
      summary: 'List the versions of a provider bundle, newest first',
      description: 'A version never changes; Clouds are pinned to one.',
      params,
      query: z.strictObject(pageQuery),
      gate: check('observe', object),
      audit: { relation: 'provider_bundle.read', when: 'all' },
      paging,
      responses: {
        200: pageOf(ProviderBundleVersion).meta({
          id: 'ProviderBundleVersionList',
          description: 'A page of the versions of a provider bundle.',
        }),
      },
      problems: ['provider_bundle_not_found'],
      cli: {
        command: 'bundles versions',
        args: ['id'],
        refs,
        columns: ['version', 'provider_config_api_version', 'provider_packages', 'created_by', 'created_at'],
      },
    },
  },
)
