import { parseReference } from '../../../shared/ids.ts'
import type { Db } from '../../ports/datastore.ts'
import { createNameReader } from '../../sql/object-names.ts'

/** The names of what approvals are about, as they are now, that one caller may read. */
export interface ApprovalNames {
  /** The name alone; null where it is gone, or belongs to another Domain than the approval. */
  nameOf(reference: string, domainId: string | null): Promise<string | null>
  /** The text with names in place of references. A reference without a name stays as it is. */
  named(text: string, domainId: string | null): Promise<string>
}

/**
 * Reads names as the audit shows them: of the Domain of an approval, and of all Domains for a caller that may read the platform. Who sees
 * an approval sees what the objects in it are called.
 */
export function createApprovalNames(db: Db, mayReadAll: boolean): ApprovalNames {
  const readers = new Map<string | null, ReturnType<typeof createNameReader>>()
  const readerOf = (domainId: string | null): ReturnType<typeof createNameReader> => {
    const key = mayReadAll ? null : domainId
    const reader = readers.get(key) ?? createNameReader(db, mayReadAll ? undefined : domainId)
    readers.set(key, reader)
    return reader
  }
  const nameOf: ApprovalNames['nameOf'] = (reference, domainId) => readerOf(domainId)(reference)
  return {
    nameOf,
    async named(text, domainId) {
      const references = [...new Set(text.match(REFERENCE) ?? [])]
      const shown = await Promise.all(
        references.map(async (reference) => [reference, await shownOf(reference, domainId)] as const),
      )
      const names = new Map(shown)
      return text.replaceAll(REFERENCE, (reference) => names.get(reference) ?? reference)
    },
  }

  async function shownOf(reference: string, domainId: string | null): Promise<string> {
    const [object = '', relation] = reference.split('#')
    const name = await nameOf(object, domainId)
    const parsed = parseReference(object)
    if (name === null || parsed === undefined) return reference
    const shown = Object.hasOwn(PRINCIPALS, parsed.type)
      ? `${withoutReference(name)} (${PRINCIPALS[parsed.type]}:${parsed.id.slice(-ID_DIGITS)})`
      : `the ${WORDS[parsed.type] ?? parsed.type.replaceAll('_', ' ')} ${name}`
    return relation === undefined ? shown : `the members of ${shown}`
  }
}

const REFERENCE = /\b[a-z_]+:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:#member)?(?![0-9a-f-])/g

/** Digits of an id beside a display name, as in the tables of the command line, where they name the principal again. */
const ID_DIGITS = 8

/** Display names are not unique: the end of the id is beside them. Everything else has a slug, or a name that is unique. */
const PRINCIPALS: Readonly<Record<string, string>> = { user: 'user', serviceaccount: 'service' }

const WORDS: Readonly<Record<string, string>> = { domain: 'Domain', project: 'Project', cloud: 'Cloud' }

/** What follows a display name in parentheses is the reference: the name itself has none, so that it cannot imitate one. */
const withoutReference = (name: string): string => name.replaceAll('(', '[').replaceAll(')', ']')
