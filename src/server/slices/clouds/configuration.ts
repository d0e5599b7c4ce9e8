import type { ProviderPackage } from '../../../shared/catalogue/packages.ts'
import type { NamedMembers, RuleFault } from '../../../shared/contract/body-rules.ts'
import {
  missingInline,
  modeFault,
  modesIn,
  NEEDS_BUNDLE,
  type NamedModes,
} from '../../../shared/contract/cloud-modes.ts'
import { problem } from '../../../shared/problems.ts'
import type { CloudRecord } from './store.ts'

/** The members of a body that say where the packages of a Cloud come from. */
export interface SentConfiguration {
  readonly provider_packages?: ProviderPackage[] | undefined
  readonly provider_config_api_version?: string | undefined
  readonly provider_bundle_id?: string | undefined
  readonly provider_bundle_version?: number | undefined
  readonly provider_package_overrides?: ProviderPackage[] | undefined
}

/**
 * What a body does to the provider configuration of a Cloud:
 * `none` nothing · `inline` packages of its own, which end a bundle reference · `overrides` other overrides of the same
 * reference · `reference` another bundle or version.
 */
export type ConfigurationChange =
  | { readonly kind: 'none' }
  | InlineChange
  | { readonly kind: 'overrides'; readonly overrides: ProviderPackage[] }
  | ReferenceChange

export interface InlineChange {
  readonly kind: 'inline'
  readonly packages: ProviderPackage[] | undefined
  readonly apiVersion: string | undefined
}

export interface ReferenceChange {
  readonly kind: 'reference'
  readonly bundleId: string
  /** Undefined: the latest one. */
  readonly version: number | undefined
  /** Undefined: those that the Cloud has stay. */
  readonly overrides: ProviderPackage[] | undefined
}

/**
 * Holds the members that a patch names, whatever their values, to the mode of the Cloud (S1 Cloud, "Provider configuration
 * modes"). The edge has refused members of both modes in one body.
 * @throws Problem `invalid_cloud_provider_mode` with the members at fault.
 */
export function assertMode(cloud: CloudRecord, body: NamedMembers): void {
  const fault = faultOf(cloud, modesIn(body))
  if (fault !== undefined) throw faultProblem(fault)
}

/** Tells what a patch does to the provider configuration of a Cloud whose mode allows it. */
export function configurationChange(cloud: CloudRecord, body: SentConfiguration): ConfigurationChange {
  const named = modesIn({ ...body })
  if (named.inline.length > 0) return inlineChange(body)
  if (named.bundle.length === 0) return { kind: 'none' }
  return bundleChange(cloud, body)
}

/** What a new Cloud has. The edge has checked that the body names one whole mode. */
export function firstConfiguration(body: SentConfiguration): ConfigurationChange {
  const { provider_bundle_id: bundleId, provider_bundle_version: version } = body
  if (bundleId === undefined) return inlineChange(body)
  return { kind: 'reference', bundleId, version, overrides: body.provider_package_overrides ?? [] }
}

function faultOf({ bundle_id: reference }: CloudRecord, named: NamedModes): RuleFault | undefined {
  const missing = missingInline(named)
  const isHalf = named.inline.length > 0 && missing.length > 0
  if (reference !== null && isHalf) {
    return modeFault(missing, 'must be there too: both members replace the bundle of the Cloud')
  }
  const needsBundle = named.bundle.length > 0 && !named.bundle.includes('provider_bundle_id')
  return reference === null && needsBundle ? modeFault(named.bundle, NEEDS_BUNDLE) : undefined
}

function faultProblem({ members, detail }: RuleFault) {
  const errors = members.map((member) => ({ pointer: `/${member}`, detail }))
  return problem('invalid_cloud_provider_mode', { errors, fields: members })
}

function inlineChange(body: SentConfiguration): ConfigurationChange {
  const { provider_packages: packages, provider_config_api_version: apiVersion } = body
  return { kind: 'inline', packages, apiVersion }
}

function bundleChange(cloud: CloudRecord, body: SentConfiguration): ConfigurationChange {
  const { provider_bundle_version: version, provider_package_overrides: overrides } = body
  const bundleId = body.provider_bundle_id ?? cloud.bundle_id
  if (bundleId === null) throw new Error('a Cloud without a bundle passed the rules of its mode')
  if (body.provider_bundle_id === undefined && version === undefined)
    return { kind: 'overrides', overrides: overrides ?? [] }
  // A Cloud that comes into bundle mode has no overrides to keep.
  const kept = cloud.bundle_id === null ? [] : undefined
  return { kind: 'reference', bundleId, version, overrides: overrides ?? kept }
}
