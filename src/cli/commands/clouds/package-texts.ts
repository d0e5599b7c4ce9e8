/** A package as the API has it. */
interface Package {
  readonly source: string
  readonly version: string
}

/** Packages as a person types them. */
export function packageTexts(packages: readonly Package[]): readonly string[] {
  return packages.map(({ source, version }) => `${source}@${version}`)
}

/** `1 package: oci://…@v1`, `none`. */
export function countedPackages(texts: readonly string[]): string {
  if (texts.length === 0) return 'no package'
  return `${texts.length} package${texts.length === 1 ? '' : 's'}: ${texts.join(', ')}`
}
