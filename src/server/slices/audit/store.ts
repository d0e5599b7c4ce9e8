import { sql, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { AuditRow } from '../../ports/audit-tables.ts'
import type { Tables } from '../../ports/tables.ts'

export type AuditRecord = Selectable<AuditRow>

/** Members of a row that a list may ask to be equal to something. */
export interface AuditMatch {
  readonly subject?: string | undefined
  readonly relation?: string | undefined
  readonly object?: string | undefined
  readonly outcome?: AuditRecord['outcome'] | undefined
  readonly correlation_id?: string | undefined
  /** Any of these relations. */
  readonly relations?: readonly string[] | undefined
  /** The type of the subject. */
  readonly actor?: 'user' | 'serviceaccount' | 'node' | undefined
}

/** Which rows of one chain to list: the newest first, going on after `after`. */
export interface AuditRange {
  /** `null`: the platform's chain. */
  readonly domainId: string | null
  readonly match: AuditMatch
  readonly since: Date | undefined
  /** Rows of this instant are left out. */
  readonly until: Date | undefined
  readonly after: { readonly at: Date; readonly id: string } | undefined
  readonly count: number
}

type AuditQuery = SelectQueryBuilder<Tables, 'audit', AuditRecord>

/** A query that can be run or explained. */
export type AuditSelection = Pick<AuditQuery, 'execute' | 'explain'>

export function listAudit(db: Db, range: AuditRange): Promise<AuditRecord[]> {
  return selectAudit(db, range).execute()
}

/** The query of a list, so that its plan can be looked at. */
export function selectAudit(db: Db, range: AuditRange): AuditSelection {
  const { relations } = range.match
  if (relations === undefined) return newest(fromAudit(db), range)
  // Checks are most rows where there are any: a page of them is found soon in the order of time.
  if (relations.includes('authz.check')) return newest(fromAudit(db).where('relation', 'in', relations), range)
  return newestOfEach(db, range, relations)
}

function fromAudit(db: Db): AuditQuery {
  return db.selectFrom('audit').selectAll('audit')
}

function newest(rows: AuditQuery, range: AuditRange): AuditQuery {
  const ofChain = rows.where('domain_id', range.domainId === null ? 'is' : '=', range.domainId)
  return inPeriod(rarely(matching(ofChain, range.match), range.match), range)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(range.count)
}

/** The newest rows of each relation by the index of relations, and of those the newest: a relation may be rare, or not there at all. */
function newestOfEach(db: Db, range: AuditRange, relations: readonly string[]): AuditSelection {
  const wanted = sql<{ relation: string }>`(select unnest(${[...relations]}::text[]) as relation)`.as('wanted')
  return db
    .selectFrom(wanted)
    .innerJoinLateral(
      () =>
        newest(
          fromAudit(db)
            .where('audit.relation', '=', sql<string>`wanted.relation`)
            .where('audit.relation', '<>', sql.lit('authz.check')),
          range,
        ).as('found'),
      (join) => join.onTrue(),
    )
    .selectAll('found')
    .orderBy('found.at', 'desc')
    .orderBy('found.id', 'desc')
    .limit(range.count)
}

const MATCHED = ['subject', 'relation', 'object', 'outcome', 'correlation_id'] as const

function matching(query: AuditQuery, match: AuditMatch): AuditQuery {
  let narrowed = query
  for (const column of MATCHED) {
    const value = match[column]
    if (value !== undefined) narrowed = narrowed.where(column, '=', value)
  }
  if (match.actor === undefined) return narrowed
  return narrowed.where(sql<string>`split_part(subject, ':', 1)`, '=', match.actor)
}

/** Says in the words of the partial indexes what follows from the match: a plan cannot conclude it from a parameter. */
function rarely(query: AuditQuery, { relation, outcome }: AuditMatch): AuditQuery {
  let narrowed = query
  if (relation !== undefined && relation !== 'authz.check') {
    narrowed = narrowed.where('relation', '<>', sql.lit('authz.check'))
  }
  if (outcome !== undefined && outcome !== 'granted') narrowed = narrowed.where('outcome', '<>', sql.lit('granted'))
  return narrowed
}

function inPeriod(query: AuditQuery, { since, until, after }: AuditRange): AuditQuery {
  let narrowed = query
  if (since !== undefined) narrowed = narrowed.where('at', '>=', since)
  if (until !== undefined) narrowed = narrowed.where('at', '<', until)
  if (after === undefined) return narrowed
  return narrowed.where((row) => row(row.refTuple('at', 'id'), '<', row.tuple(after.at, after.id)))
}
