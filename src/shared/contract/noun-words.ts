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
  /** How its objects are written when a Domain is exported as files. */
  readonly files: FilesRule
}

/**
 * `managed`: a file has the object, and applying it creates and changes the object. `labels-only`: a file has its labels, and nothing
 * creates or deletes it. Otherwise no file has it, and the export names the reason.
 */
export type FilesRule = 'managed' | 'labels-only' | { readonly runtime: string }

/** Declares that no file has the objects of a noun. The reason is one clause for the reader of an export. */
export function runtime(reason: string): FilesRule {
  return { runtime: reason }
}

export type Nouns = { readonly [noun: string]: NounWords }
