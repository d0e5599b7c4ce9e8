/** Names of a kind: the pattern, and what messages call it. */
export interface Naming {
  readonly pattern: RegExp
  readonly describe: string
}

/** Names that are slugs. */
export const SLUG: Naming = { pattern: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, describe: 'a slug such as web' }

/** Slugs behind that of a Project. */
export const SLUG_IN_PROJECT: Naming = {
  pattern: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?\/[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  describe: 'PROJECT/NAME, such as web/edge-1',
}

/** The Project and the rest of a name. */
export function inProject(name: string): { readonly project: string; readonly slug: string } {
  const [project = '', slug = ''] = name.split('/')
  return { project, slug }
}
