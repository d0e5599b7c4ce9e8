/** One package of a provider configuration: an OCI source and its version. */
export interface ProviderPackage {
  readonly source: string
  readonly version: string
}

/** Where a package of a Cloud's effective set comes from: the Cloud itself, its bundle, or its overrides of the bundle. */
export type PackageOrigin = 'cloud' | 'bundle' | 'override'

export interface EffectivePackage extends ProviderPackage {
  readonly origin: PackageOrigin
}

/** Packages that a provider configuration has at most (S1 Limits). */
export const PACKAGES_MAX = 16

/** A source without its optional scheme: `oci://ghcr.io/a/b` and `ghcr.io/a/b` are the same source. */
export function sourceKey(source: string): string {
  return source.startsWith('oci://') ? source.slice('oci://'.length) : source
}

/** Whether no two of the packages have the same source. */
export function hasDistinctSources(packages: readonly ProviderPackage[]): boolean {
  return new Set(packages.map(({ source }) => sourceKey(source))).size === packages.length
}

/** The packages by source, ascending, in the order of code units: the order in which every answer has them. */
export function bySource<Package extends ProviderPackage>(packages: readonly Package[]): Package[] {
  return packages.toSorted((a, b) => (sourceKey(a.source) < sourceKey(b.source) ? -1 : 1))
}

/** Each package with the origin. The order stays. */
export function withOrigin(packages: readonly ProviderPackage[], origin: PackageOrigin): EffectivePackage[] {
  return packages.map(({ source, version }) => ({ source, version, origin }))
}

/**
 * The packages of a bundle version with the overrides of a Cloud merged over them, by source. An override takes the place
 * of the package of its source, or adds one where the bundle has none. May exceed `PACKAGES_MAX`: callers check.
 */
export function mergedPackages(
  ofBundle: readonly ProviderPackage[],
  overrides: readonly ProviderPackage[],
): EffectivePackage[] {
  // Most Clouds override nothing, and a version is stored by source.
  if (overrides.length === 0) return withOrigin(ofBundle, 'bundle')
  const overridden = new Set(overrides.map(({ source }) => sourceKey(source)))
  const kept = ofBundle.filter(({ source }) => !overridden.has(sourceKey(source)))
  return bySource([...withOrigin(kept, 'bundle'), ...withOrigin(overrides, 'override')])
}
