import type { NamedMembers, RuleFault } from './body-rules.ts'

// Which members of a body belong to which mode of a Cloud (S1 Cloud, "Provider configuration modes").

const INLINE = ['provider_packages', 'provider_config_api_version'] as const
const OF_BUNDLE = ['provider_bundle_id', 'provider_bundle_version', 'provider_package_overrides'] as const

/** The members of a mode that the body names. */
export interface NamedModes {
  readonly inline: readonly string[]
  readonly bundle: readonly string[]
}

/** Tells which members of each mode a body names. */
export function modesIn(body: NamedMembers): NamedModes {
  const isNamed = (member: string): boolean => body[member] !== undefined
  return { inline: INLINE.filter(isNamed), bundle: OF_BUNDLE.filter(isNamed) }
}

/** The members of its own provider configuration that a body does not name. */
export function missingInline({ inline }: NamedModes): readonly string[] {
  return INLINE.filter((member) => !inline.includes(member))
}

/** A fault of the mode, which names the members. */
export function modeFault(members: readonly string[], detail: string): RuleFault {
  return { code: 'invalid_cloud_provider_mode', members, detail }
}

/** A version or overrides need a bundle that they are about. */
export const NEEDS_BUNDLE = 'must come with provider_bundle_id where the Cloud has no bundle'

/** Refuses a patch that names members of both modes. What the Cloud itself has, only the service knows. */
export function patchModeFault(body: NamedMembers): RuleFault | undefined {
  const { inline, bundle } = modesIn(body)
  if (inline.length === 0 || bundle.length === 0) return undefined
  return modeFault([...inline, ...bundle], 'must not be combined: a Cloud has packages of its own or a bundle')
}

/** Refuses a new Cloud with members of both modes, and one without a whole mode. */
export function createModeFault(body: NamedMembers): RuleFault | undefined {
  const named = modesIn(body)
  const both = patchModeFault(body)
  if (both !== undefined) return both
  if (named.bundle.includes('provider_bundle_id')) return undefined
  if (named.bundle.length > 0) return modeFault(named.bundle, NEEDS_BUNDLE)
  const missing = missingInline(named)
  if (missing.length === 0) return undefined
  const detail = 'must be there where the Cloud has no provider_bundle_id'
  return { code: 'invalid_cloud', members: missing, detail }
}
