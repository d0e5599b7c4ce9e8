import type { Manifest } from '../../shared/contract/manifest-format.ts'
import type { HelpSection } from '../../shared/contract/noun-words.ts'

/** How help groups nouns and verbs. */
export interface Section {
  readonly title: string
  readonly nouns: readonly string[]
}

/** Sections in their order. The contract lists the nouns of its surfaces; those of the command line alone follow. */
const SECTIONS: readonly (Section & { readonly title: HelpSection | 'Get started' | 'This machine' | 'Tools' })[] = [
  { title: 'Get started', nouns: ['serve', 'login', 'logout', 'whoami', 'status', 'doctor'] },
  { title: 'This machine', nouns: ['agent', 'ssh', 'tcp'] },
  { title: 'Fleet', nouns: ['events', 'agent-sim'] },
  { title: 'Tenancy', nouns: ['export', 'diff', 'apply'] },
  { title: 'Catalogue', nouns: [] },
  { title: 'Access', nouns: [] },
  { title: 'Tools', nouns: ['contexts', 'config', 'api', 'openapi', 'completion', 'admin', 'help'] },
]

/** The sections with their nouns. A noun that no section has is in the last one. */
export function sectionsOf({ nouns: ofContract }: Manifest, nouns: readonly string[]): readonly Section[] {
  const declared = Object.entries(ofContract).toSorted(([, one], [, other]) => positionOf(one) - positionOf(other))
  const sections = SECTIONS.map(({ title, nouns: own }) => ({
    title,
    nouns: [...declared.flatMap(([noun, { section }]) => (section === title ? [noun] : [])), ...own],
  }))
  const listed = new Set(sections.flatMap((section) => section.nouns))
  return [...sections, { title: 'More', nouns: nouns.filter((noun) => !listed.has(noun)) }]
}

const positionOf = ({ position = Number.MAX_SAFE_INTEGER }: Manifest['nouns'][string]): number => position
