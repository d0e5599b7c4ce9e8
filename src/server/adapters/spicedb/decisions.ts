import type { Askable, Model } from '../../../shared/authz/model.ts'
import { problem } from '../../../shared/problems.ts'
import type { CheckQuery, Decision } from '../../ports/authorizer.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { caveatValues } from '../embedded-authz/caveats.ts'
import type { DomainSettings, SettingsCache } from '../embedded-authz/domain-settings.ts'
import { CaveatFailed } from './calls.ts'
import type { CheckRequest, CheckResponse, Spicedb } from './client.ts'
import { grantPath, type MayUse } from './grant-path.ts'
import type { ObjectName } from './messages.ts'
import { nameOfRelation, readCaveatDomains, type RelationOf } from './registry-store.ts'
import { caveatedRelations, type Trace } from './trace.ts'

/** A question whose names the model knows. */
export interface Question {
  readonly asked: Askable
  readonly resource: ObjectName
  readonly subject: ObjectName
}

export interface DecisionsDeps {
  readonly model: Model
  readonly datastore: Datastore
  readonly spicedb: Spicedb
  readonly settings: SettingsCache
  /** @throws Problem `authz_unavailable`. */
  readonly freshness: () => string | undefined
}

/** A denial that no value of a caveat would change. */
const DENIED: Decision = Object.freeze({ allowed: false, reason: 'insufficient_relation', isUnconditional: true })
const VIOLATION: Decision = Object.freeze({ allowed: false, reason: 'caveat_violation' })

/** Maximum of Domains whose settings are tried for one question. Its caveated tuples are seldom in two Domains. */
const DOMAINS_MAX = 16

/** The Domains of the caveated tuples of relations, by the relation's name. */
type CaveatDomains = ReadonlyMap<string, ReadonlySet<string | null>>

/**
 * Asks SpiceDB first without values for caveats: that answer is the same for every caller at any time, so SpiceDB can
 * cache it. Asks again only if the answer depends on caveats, with the values of each Domain that owns such tuples.
 * SpiceDB applies one set of values to all tuples, so a grant counts only if all its caveated tuples belong to that
 * Domain.
 */
export function createDecisions({ model, datastore, spicedb, settings, freshness }: DecisionsDeps) {
  const db = () => datastore.pool('interactive')

  const requestOf = ({ asked, resource, subject }: Question): Omit<CheckRequest, 'tracing'> => ({
    resource,
    subject,
    permission: asked.engineName,
    freshness: freshness(),
  })

  function allowedBy({ asked, subject }: Question, { trace }: CheckResponse, mayUse: MayUse): Decision | undefined {
    if (trace === undefined) return undefined
    const path = grantPath(asked, trace, { model, mayUse, subject: `${subject.type}:${subject.id}` })
    return path && { allowed: true, path }
  }

  /** The Domains of the caveated tuples in a trace. */
  async function caveatDomains(trace: Trace | undefined): Promise<CaveatDomains> {
    const relations = (trace === undefined ? [] : caveatedRelations(trace)).map((each) => relationOf(model, each))
    return readCaveatDomains(db(), relations).catch((cause: unknown) => {
      throw problem('authz_unavailable', {}, cause)
    })
  }

  /** The decision with the values of one Domain; undefined if they do not grant. */
  async function within(
    domainId: string | null,
    { question, query, domains }: { question: Question; query: CheckQuery; domains: CaveatDomains },
  ): Promise<Decision | undefined> {
    const known = { facts: query.facts, settings: domainId === null ? undefined : await settingsOf(domainId) }
    const context = caveatValues(known, query.allowedFacts)
    const answer = await spicedb
      .check({ ...requestOf(question), context, tracing: true })
      .catch((error: unknown): undefined => {
        // A caveat that SpiceDB cannot evaluate is as undecided as one with missing values.
        if (!(error instanceof CaveatFailed)) throw error
      })
    if (answer?.permissionship !== 'yes') return undefined
    const isOfDomain: MayUse = (trace) => {
      const found = trace.isRelation && trace.hasCaveat && domains.get(nameOfRelation(relationOf(model, trace)))
      return !found || [...found].every((each) => each === domainId)
    }
    return allowedBy(question, answer, isOfDomain)
  }

  async function settingsOf(domainId: string): Promise<DomainSettings | undefined> {
    if (!settings.has(domainId)) await settings.load(domainId)
    return settings.get(domainId)
  }

  async function decideCaveats(question: Question, query: CheckQuery, first: CheckResponse): Promise<Decision> {
    const traced = first.trace === undefined ? await spicedb.check({ ...requestOf(question), tracing: true }) : first
    const domains = await caveatDomains(traced.trace)
    const ids = new Set([...domains.values()].flatMap((each) => [...each]))
    for (const domainId of [...ids].slice(0, DOMAINS_MAX)) {
      const decision = await within(domainId, { question, query, domains })
      if (decision !== undefined) return query.wantPath ? decision : { allowed: true, path: [] }
    }
    return VIOLATION
  }

  return {
    /** @throws Problem `authz_unavailable`, `internal` for data that is nested too deep. */
    async decide(question: Question, query: CheckQuery): Promise<Decision> {
      const answer = await spicedb.check({ ...requestOf(question), tracing: query.wantPath })
      if (answer.permissionship === 'no') return DENIED
      if (answer.permissionship === 'conditional') return decideCaveats(question, query, answer)
      const decision = allowedBy(question, answer, () => true) ?? { allowed: true, path: [] }
      return { ...decision, isUnconditional: true }
    },
  }
}

/** The relation of a trace under the API's names. */
function relationOf(model: Model, { object, name }: Trace): RelationOf {
  const relation = model.type(object.type)?.relations.find(({ engineName }) => engineName === name)
  return { object, relation: relation?.name ?? name }
}
