import { sql, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byAtDescending } from '../../sql/keyset.ts'
import type { AuditRow } from '../../ports/tables/audit.ts'
import type { Tables } from '../../ports/tables/tables.ts'

export type AuditRecord = Selectable<AuditRow>

/** Members of a row that a list can filter by equality. */
export interface AuditMatch {
  readonly subject?: string | undefined
  readonly relation?: string | undefined
  readonly object?: string | undefined
  readonly outcome?: AuditRecord['outcome'] | undefined
  readonly correlation_id?: string | undefined
  /** Any of these relations. */
  readonly relations?: readonly string[] | undefined
  /** The type of the subject. */
  readonly actor?: 'user' | 'serviceaccount' | 'node' | 'system' | undefined
}

/** Which rows of one chain to list. */
export interface AuditFilter {
  /** `null`: the platform's chain. */
  readonly domainId: string | null
  readonly match: AuditMatch
  readonly since: Date | undefined
  /** Rows of this instant are left out. */
  readonly until: Date | undefined
}

type AuditQuery = SelectQueryBuilder<Tables, 'audit', AuditRecord>

/** A query that can be run or explained. */
export type AuditSelection = Pick<AuditQuery, 'execute' | 'explain'>

/** Reads the page of a list, newest first. */
export function listAudit(db: Db, filter: AuditFilter, range: PageRange): Promise<AuditRecord[]> {
  return selectAudit(db, filter, range).execute()
}

/** The query of a list, so that tests can read its plan. */
export function selectAudit(db: Db, filter: AuditFilter, range: PageRange): AuditSelection {
  const { relations } = filter.match
  const newest = (rows: AuditQuery) => byAtDescending.page(filtered(rows, filter), range)
  if (relations === undefined) return newest(fromAudit(db))
  // Where a chain has checks, they are most of its rows: a page of them is found fast in the order of time.
  if (relations.includes('authz.check')) return newest(fromAudit(db).where('relation', 'in', relations))
  return byAtDescending.page(ofEach(db, relations, newest), range)
}

function fromAudit(db: Db): AuditQuery {
  return db.selectFrom('audit').selectAll('audit')
}

function filtered(rows: AuditQuery, filter: AuditFilter): AuditQuery {
  const ofChain = rows.where('domain_id', filter.domainId === null ? 'is' : '=', filter.domainId)
  return inPeriod(rarely(matching(ofChain, filter.match), filter.match), filter)
}

/** The newest rows of each relation, by the index of relations: a relation may be rare or absent. */
function ofEach(db: Db, relations: readonly string[], newest: (rows: AuditQuery) => AuditQuery) {
  const wanted = sql<{ relation: string }>`(select unnest(${[...relations]}::text[]) as relation)`.as('wanted')
  return db
    .selectFrom(wanted)
    .innerJoinLateral(
      () =>
        newest(
          fromAudit(db)
            .where('audit.relation', '=', sql<string>`wanted.relation`)
            .where('audit.relation', '<>', sql.lit('authz.check')),
        ).as('found'),
      (join) => join.onTrue(),
    )
    .selectAll('found')
}

const MATCHED = ['subject', 'relation', 'object', 'outcome', 'correlation_id'] as const

function matching(query: AuditQuery, match: AuditMatch): AuditQuery {
  let narrowed = query
  for (const column of MATCHED) {
    const value = match[column]
    if (value !== undefined) narrowed = narrowed.where(column, '=', value)
  }
  return match.actor === undefined ? narrowed : narrowed.where(KIND, '=', match.actor)
}

/** The kind of the subject, in the words of the indexes. */
const KIND = sql<string>`split_part(subject, ':', 1)`

/** Repeats the predicates of the partial indexes: the planner cannot derive them from a parameter. */
function rarely(query: AuditQuery, match: AuditMatch): AuditQuery {
  const { relation, outcome } = match
  let narrowed = isOfNoNode(match) ? query.where(KIND, '<>', sql.lit('node')) : query
  if (relation !== undefined && relation !== 'authz.check') {
    narrowed = narrowed.where('relation', '<>', sql.lit('authz.check'))
  }
  if (outcome !== undefined && outcome !== 'granted') narrowed = narrowed.where('outcome', '<>', sql.lit('granted'))
  return narrowed
}

/** Whether a filter of subjects leaves out all nodes. */
function isOfNoNode({ subject, actor = 'node' }: AuditMatch): boolean {
  return subject === undefined ? actor !== 'node' : !subject.startsWith('node:')
}

function inPeriod(query: AuditQuery, { since, until }: AuditFilter): AuditQuery {
  let narrowed = query
  if (since !== undefined) narrowed = narrowed.where('at', '>=', since)
  if (until !== undefined) narrowed = narrowed.where('at', '<', until)
  return narrowed
}
