import { NO, UNKNOWN, YES, type Verdict } from '../../../src/shared/authz/engine/verdict.ts'
import type { TupleColumns } from '../../../src/shared/authz/tuple.ts'

/** Groups in groups, folders in folders and documents in folders, with expiries, a caveat, an exclusion and an `all`. */
export const DOCUMENTS_SCHEMA = `use expiration

caveat strong(acr string, strong_acr list<string>) {
    acr in strong_acr
}

definition user {}

definition group {
    relation member: user | group#member | user with expiration
}

definition folder {
    relation parent: folder
    relation viewer: user | group#member | user with expiration
    relation banned: user
    permission view = (viewer + parent->view) - banned
}

definition doc {
    relation parent: folder
    relation viewer: user | group#member | user with strong | user with expiration
    relation reviewer: user | group#member
    relation public: user:*
    permission view = viewer + parent->view
    permission review = reviewer & parent.all(view)
    permission open = view + public
}
`

/** A tuple with the revision that made it. */
export interface StoredTuple {
  readonly tuple: TupleColumns
  readonly revision: number
}

/** What a question is asked with: the time, and how far the caveat holds. */
export interface NaiveFacts {
  readonly nowMs: number
  readonly strong: Verdict
}

const resourceOf = ({ resource_type: type, resource_id: id }: TupleColumns): string => `${type}:${id}`
const subjectOf = ({ subject_type: type, subject_id: id }: TupleColumns): string => `${type}:${id}`

/** Answers about some tuples, by the definition of each permission, written out for clarity: shares nothing with the engine. */
export function naiveDocuments(stored: readonly StoredTuple[], { nowMs, strong }: NaiveFacts) {
  const byRelation = new Map<string, StoredTuple[]>()
  for (const each of stored) {
    const key = `${resourceOf(each.tuple)}#${each.tuple.relation}`
    byRelation.set(key, [...(byRelation.get(key) ?? []), each])
  }
  const edges = (object: string, relation: string): readonly StoredTuple[] =>
    byRelation.get(`${object}#${relation}`) ?? []

  function held({ tuple }: StoredTuple): Verdict {
    if (tuple.expires_at_ms !== undefined && tuple.expires_at_ms <= nowMs) return NO
    return tuple.caveat_name === '' ? YES : strong
  }

  function related(user: string, object: string, relation: string): Verdict {
    const verdicts = edges(object, relation).map((edge) => {
      const { subject_id: id, subject_relation: set } = edge.tuple
      const bears = subjectOf(edge.tuple) === user || id === '*' ? YES : NO
      return Math.min(held(edge), set === '' ? bears : related(user, subjectOf(edge.tuple), set))
    })
    return Math.max(NO, ...verdicts)
  }

  const parentViews = (user: string, object: string): Verdict[] =>
    edges(object, 'parent').map(({ tuple }) => verdict(user, subjectOf(tuple), 'view'))

  function verdict(user: string, object: string, name: string): Verdict {
    const inFolders = () => parentViews(user, object)
    switch (`${object.slice(0, object.indexOf(':'))}#${name}`) {
      case 'folder#view':
        if (related(user, object, 'banned') === YES) return NO
        return Math.max(related(user, object, 'viewer'), ...inFolders())
      case 'doc#view':
        return Math.max(related(user, object, 'viewer'), ...inFolders())
      case 'doc#review':
        if (inFolders().length === 0) return NO
        return Math.min(related(user, object, 'reviewer'), ...inFolders())
      case 'doc#open':
        return Math.max(verdict(user, object, 'view'), related(user, object, 'public'))
      default:
        return related(user, object, name)
    }
  }

  function firstRevisions(type: string): Map<string, number> {
    const [asResource, asSubject] = [new Map<string, number>(), new Map<string, number>()]
    const note = (revisions: Map<string, number>, object: string, revision: number): void => {
      if (object.startsWith(`${type}:`)) revisions.set(object, Math.min(revision, revisions.get(object) ?? Infinity))
    }
    for (const { tuple, revision } of stored) {
      note(asResource, resourceOf(tuple), revision)
      if (tuple.subject_id !== '*') note(asSubject, subjectOf(tuple), revision)
    }
    return new Map([...asSubject, ...asResource])
  }

  /** Those of the type for which it holds, by first revision, then id. */
  function granted(type: string, holds: (object: string) => Verdict): string[] {
    return [...firstRevisions(type)]
      .filter(([object]) => holds(object) === YES)
      .toSorted(([a, first], [b, second]) => first - second || (a < b ? -1 : 1))
      .map(([object]) => object)
  }

  return {
    verdict,
    outcome: (user: string, object: string, name: string) => OUTCOMES[verdict(user, object, name)] ?? 'denied',
    resources: (user: string, type: string, name: string) => granted(type, (object) => verdict(user, object, name)),
    subjects: (object: string, name: string) => granted('user', (user) => verdict(user, object, name)),
    has: (resource: string, relation: string, subject: string) =>
      edges(resource, relation).some(({ tuple }) => {
        const set = tuple.subject_relation === '' ? '' : `#${tuple.subject_relation}`
        return `${subjectOf(tuple)}${set}` === subject
      }),
  }
}

/** By verdict. */
const OUTCOMES: { readonly [verdict: Verdict]: string } = { [YES]: 'granted', [UNKNOWN]: 'conditional' }
