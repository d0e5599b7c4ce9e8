/** A section of the help in which a noun is listed. */
export type HelpSection = 'Fleet' | 'Tenancy' | 'Catalogue' | 'Access'

/** The words of the command line for a noun: the objects that the commands of a surface are about. */
export interface NounWords {
  /** Absent where another noun has the commands. */
  readonly section?: HelpSection
  /** Its position among the nouns of the section, ascending. */
  readonly position?: number
  /** Types of the authorization schema whose ids people give by name. The list of the noun has these objects. */
  readonly types?: readonly string[]
}

export type Nouns = { readonly [noun: string]: NounWords }
