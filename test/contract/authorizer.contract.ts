import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addDomain } from '../../src/server/slices/domains/add-domain.ts'
import { newDomain } from '../../src/server/slices/domains/domain.ts'
import type { CaveatFacts, CheckQuery, Decision } from '../../src/server/ports/authorizer.ts'
import type { Tuple, TuplePlace } from '../../src/server/ports/unit-of-work.ts'
import { Problem } from '../../src/shared/problems.ts'
import { openReplica, type EngineKind, isEngineMissing, type Replica, useSpicedb } from '../support/authz/engines.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { type TestStore, useDatastore } from '../support/datastores/stores.ts'

/** A Monday, 10:00 in Berlin. */
const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const id = (last: string): string => `01935b5e-8f3a-7c61-9d0a-${last.padStart(12, '0')}`
const D1 = id('d1')
const D2 = id('d2')
const P1 = id('a1')
const N1 = id('b1')
const ANN = `user:${id('1')}`
const BOB = `user:${id('2')}`
const CAT = `user:${id('3')}`
const OPS = `group:${id('e1')}`
const ALL = `group:${id('e2')}`
const PLATFORM = 'platform:main'

const NOWHERE: TuplePlace = { domainId: null, projectId: null }
const inDomain = (domainId: string): TuplePlace => ({ domainId, projectId: null })

/** `subject relation resource`, and behind it a caveat in brackets. */
function tupleOf(text: string): Tuple {
  const [, subject = '', relation = '', resource = '', caveatName] =
    /^(\S+) (\S+) ([^\s[]+)(?:\[(\w+)\])?$/.exec(text) ?? []
  return { subject, relation, resource, ...(caveatName !== undefined && { caveatName }) }
}

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'none'
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}

/**
 * What every authorization engine does behind its ports, over each datastore. Where an engine does otherwise, the test
 * says so by name:
 * - `one caveat a binding`: SpiceDB keeps one relationship for subject, relation and resource, so that a second caveat on
 *   them is refused where the embedded engine takes it.
 * - `one Domain a path`: SpiceDB reads one set of values for a whole check, so that a path over caveated tuples of two
 *   Domains is not granted where the embedded engine grants it.
 * - `cycles`: over cycles in data from elsewhere SpiceDB answers with a depth error (decisions: Authorization). None can be
 *   written here, so that there is nothing to test.
 */
export function authorizerContract(engine: EngineKind, store: TestStore): void {
  describe.skipIf(isEngineMissing(engine) || store.missing)(`the ${engine} engine over ${store.name}`, () => {
    const inUse = useDatastore(store)
    const server = useSpicedb(engine)
    let replica: Replica

    beforeEach(async () => {
      await emptyTables(inUse.current())
      await server()?.reset()
      replica = await openReplica({ datastore: inUse.current(), nowMs: NOW_MS, server: server() })
    })
    afterEach(() => replica.stop())

    /** Writes what makes a Domain, with a Project and a node in the first, and two people. */
    async function found(): Promise<void> {
      for (const [at, domainId] of [D1, D2].entries()) {
        const body = { slug: `d${at + 1}`, display_name: 'A Domain', mesh_cidr: `100.${64 + at}.0.0/16` }
        await replica.change((change) => addDomain(change, newDomain(domainId, body, new Date(NOW_MS))))
      }
      await replica.change(async ({ tuples }) => {
        await tuples.createStructural(tupleOf(`domain:${D1} domain project:${P1}`), inDomain(D1))
        await tuples.createStructural(tupleOf(`domain:${D1} domain node:${N1}`), inDomain(D1))
        await tuples.createStructural(tupleOf(`domain:${D1} domain ${ANN}`), inDomain(D1))
        await tuples.createStructural(tupleOf(`domain:${D2} domain ${BOB}`), inDomain(D2))
      })
    }

    const grant = (text: string, place: TuplePlace = inDomain(D1)): Promise<boolean> =>
      replica.change(async ({ tuples }) => (await tuples.create(tupleOf(text), place)) !== undefined)

    async function revoke(text: string): Promise<boolean> {
      const { subject, relation, resource, caveatName = '' } = tupleOf(text)
      const { rows } = await sql<{ id: string }>`
        select id from relation_tuples where relation = ${relation} and caveat_name = ${caveatName}
          and subject_type || ':' || subject_id || case subject_relation when '' then '' else '#' || subject_relation end = ${subject}
          and resource_type || ':' || resource_id = ${resource}`.execute(inUse.current().pool('interactive'))
      return (await replica.change(({ tuples }) => tuples.delete(rows[0]?.id ?? ''))) !== undefined
    }

    const question = (text: string, more: Partial<CheckQuery> = {}): CheckQuery => {
      const [subject = '', relation = '', resource = ''] = text.split(' ')
      return { subject, relation, resource, facts: { nowMs: NOW_MS }, wantPath: true, ...more }
    }

    /** The path as one word, or why not. */
    async function ask(text: string, more: Partial<CheckQuery> = {}): Promise<string> {
      const decision: Decision = await replica.authorizer.check(question(text, more))
      return decision.allowed ? `by ${decision.path.join('.') || 'itself'}` : decision.reason
    }

    const configure = (settings: Readonly<Record<string, unknown>>, domainId = D1) =>
      replica.change(async (change) => {
        const columns = Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)])
        await change.db.updateTable('domains').set(Object.fromEntries(columns)).where('id', '=', domainId).execute()
        change.domainChanged(domainId)
      })

    describe('a check', () => {
      test('tells the relations on the way to what grants it', async () => {
        await found()
        await grant(`${ANN} operator domain:${D1}`)
        expect(await ask(`${ANN} operate domain:${D1}`)).toBe('by operator')
        expect(await ask(`${ANN} read domain:${D1}`)).toBe('by operate.operator')
        expect(await ask(`${ANN} domain-view domain:${D1}`)).toBe('by read.operate.operator')
        expect(await ask(`${ANN} deploy project:${P1}`)).toBe('by domain.operate.operator')
        expect(await ask(`${ANN} node-agent node:${N1}`)).toBe('by node-operate.domain.operate.operator')
      })

      test('asks a permission where a role has its name, and the role where there is none', async () => {
        await found()
        await grant(`${ANN} auditor domain:${D1}`)
        await grant(`${BOB} auditor platform:main`, NOWHERE)
        expect(await ask(`${ANN} auditor domain:${D1}`)).toBe('by auditor')
        expect(await ask(`${BOB} auditor domain:${D1}`)).toBe('by platform.auditor.auditor')
        expect(await ask(`${ANN} admin domain:${D1}`)).toBe('insufficient_relation')
      })

      test('grants nothing that nobody granted', async () => {
        await found()
        expect(await ask(`${ANN} read domain:${D1}`)).toBe('insufficient_relation')
        expect(await ask(`${ANN} manage project:${P1}`)).toBe('insufficient_relation')
      })

      test('denies what is asked of objects that do not exist', async () => {
        expect(await ask(`${CAT} read domain:${id('77')}`)).toBe('insufficient_relation')
        expect(await ask(`user:nobody-here manage ${PLATFORM}`)).toBe('insufficient_relation')
      })

      test('goes through groups in groups, and no further than they reach', async () => {
        await found()
        await grant(`${ANN} member ${OPS}`)
        await grant(`${OPS}#member member ${ALL}`)
        await grant(`${ALL}#member viewer project:${P1}`)
        expect(await ask(`${ANN} read project:${P1}`)).toBe('by viewer.member.member')
        expect(await ask(`${ANN} member ${ALL}`)).toBe('by member')
        expect(await ask(`${BOB} read project:${P1}`)).toBe('insufficient_relation')
        expect(await ask(`${OPS} read project:${P1}`)).toBe('insufficient_relation')
      })

      test('takes a wildcard for everyone of its type, and of no other', async () => {
        await found()
        await grant(`user:* viewer project:${P1}`)
        expect(await ask(`${CAT} read project:${P1}`)).toBe('by viewer')
        expect(await ask(`serviceaccount:${id('9')} read project:${P1}`)).toBe('insufficient_relation')
      })

      test('lets everybody read themselves', async () => {
        await found()
        expect(await ask(`${ANN} read ${ANN}`)).toBe('by itself')
        expect(await ask(`${CAT} read ${CAT}`)).toBe('by itself')
        expect(await ask(`${ANN} read ${BOB}`)).toBe('insufficient_relation')
      })

      test('takes UUIDs in capitals for what they are', async () => {
        await found()
        await grant(`${ANN} admin domain:${D1}`)
        expect(await ask(`user:${id('1').toUpperCase()} manage domain:${D1.toUpperCase()}`)).toBe('by admin')
      })

      test('refuses references that are malformed and names that the schema does not have', async () => {
        const refused = [
          `user:* read domain:${D1}`,
          `${ANN} read domain:*`,
          `nobody read domain:${D1}`,
          `${ANN} fly domain:${D1}`,
          `${ANN} read ship:${D1}`,
          `${OPS}#member read domain:${D1}`,
        ]
        const codes = await Promise.all(refused.map((text) => codeOf(() => replica.authorizer.check(question(text)))))
        expect(codes).toEqual(refused.map(() => 'invalid_triple'))
      })

      test('knows which relations the schema has, and which of them grant', () => {
        expect(replica.authorizer.kind).toBe(engine)
        expect(replica.authorizer.hasRelation('node', 'node-agent')).toBe(true)
        expect(replica.authorizer.hasRelation('node', 'node_agent')).toBe(false)
        expect(replica.authorizer.pathOf('project', 'deploy')).toEqual(['manage', 'admin', 'domain', 'deployer'])
        expect(replica.authorizer.pathOf('ship', 'read')).toEqual([])
      })
    })

    describe('a caveat', () => {
      const HOURS = { time_zone: 'Europe/Berlin', days: [1], from: '09:00', to: '17:00' }
      const facts = (more: Partial<CaveatFacts>): Partial<CheckQuery> => ({ facts: { nowMs: NOW_MS, ...more } })

      test('reads the clock and the hours of the Domain', async () => {
        await found()
        await configure({ business_hours: HOURS })
        await grant(`${ANN} viewer domain:${D1}[within_hours]`)
        expect(await ask(`${ANN} read domain:${D1}`)).toBe('by viewer')
        expect(await ask(`${ANN} read project:${P1}`)).toBe('by domain.read.viewer')
        const evening = facts({ nowMs: Date.parse('2026-03-02T18:00:00Z') })
        expect(await ask(`${ANN} read domain:${D1}`, evening)).toBe('caveat_violation')
      })

      test('reads the address of the caller and the networks of the Domain', async () => {
        await found()
        await configure({ trusted_networks: ['10.1.0.0/16', '2001:db8::/32'] })
        await grant(`${ANN} admin domain:${D1}[from_network]`)
        expect(await ask(`${ANN} manage domain:${D1}`, facts({ sourceIp: '10.1.2.3' }))).toBe('by admin')
        expect(await ask(`${ANN} manage domain:${D1}`, facts({ sourceIp: '::ffff:10.1.2.3' }))).toBe('by admin')
        expect(await ask(`${ANN} manage domain:${D1}`, facts({ sourceIp: '2001:db8::7' }))).toBe('by admin')
        expect(await ask(`${ANN} manage domain:${D1}`, facts({ sourceIp: '10.2.0.1' }))).toBe('caveat_violation')
      })

      test('is not met by what is not known, or may not be read', async () => {
        await found()
        await configure({ strong_acr: ['gold'], business_hours: HOURS })
        await grant(`${ANN} admin domain:${D1}[strong_auth]`)
        await grant(`${BOB} viewer domain:${D1}[within_hours]`)
        expect(await ask(`${ANN} manage domain:${D1}`, facts({ acr: 'gold' }))).toBe('by admin')
        expect(await ask(`${ANN} manage domain:${D1}`)).toBe('caveat_violation')
        const unnamed = { ...facts({ acr: 'gold' }), allowedFacts: new Set(['acr']) }
        expect(await ask(`${ANN} manage domain:${D1}`, unnamed)).toBe('caveat_violation')
        const named = { ...facts({ acr: 'gold' }), allowedFacts: new Set(['acr', 'strong_acr']) }
        expect(await ask(`${ANN} manage domain:${D1}`, named)).toBe('by admin')
        const clock = { allowedFacts: new Set(['now', 'business_hours']) }
        expect(await ask(`${BOB} read domain:${D1}`, clock)).toBe('by viewer')
      })

      test('reads the settings of the Domain that its tuple lies in, and follows their change', async () => {
        await found()
        await configure({ strong_acr: ['gold'] }, D1)
        await configure({ strong_acr: ['iron'] }, D2)
        await grant(`${ANN} admin domain:${D1}[strong_auth]`, inDomain(D1))
        await grant(`${ANN} admin domain:${D2}[strong_auth]`, inDomain(D2))
        expect(await ask(`${ANN} manage domain:${D1}`, facts({ acr: 'gold' }))).toBe('by admin')
        expect(await ask(`${ANN} manage domain:${D2}`, facts({ acr: 'gold' }))).toBe('caveat_violation')
        expect(await ask(`${ANN} manage domain:${D2}`, facts({ acr: 'iron' }))).toBe('by admin')
        await configure({ strong_acr: ['gold', 'iron'] }, D2)
        expect(await ask(`${ANN} manage domain:${D2}`, facts({ acr: 'gold' }))).toBe('by admin')
      })

      test('of one Domain is not met by the settings of another on the way', async () => {
        await found()
        await configure({ strong_acr: ['gold'] }, D1)
        await configure({ strong_acr: ['iron'] }, D2)
        await grant(`${OPS}#member viewer domain:${D1}[strong_auth]`, inDomain(D1))
        await grant(`${ANN} member ${OPS}[strong_auth]`, inDomain(D2))
        expect(await ask(`${ANN} read domain:${D1}`, facts({ acr: 'gold' }))).toBe('caveat_violation')
        expect(await ask(`${ANN} read domain:${D1}`, facts({ acr: 'iron' }))).toBe('caveat_violation')
      })

      test('over tuples of two Domains at once is met by both (SpiceDB: never, one Domain a path)', async () => {
        await found()
        await configure({ strong_acr: ['gold'] }, D1)
        await configure({ strong_acr: ['gold'] }, D2)
        await grant(`${OPS}#member viewer domain:${D1}[strong_auth]`, inDomain(D1))
        await grant(`${ANN} member ${OPS}[strong_auth]`, inDomain(D2))
        const answers = { embedded: 'by viewer.member', spicedb: 'caveat_violation' }
        expect(await ask(`${ANN} read domain:${D1}`, facts({ acr: 'gold' }))).toBe(answers[engine])
      })

      test('stands back behind a tuple without one, and stands again when that is gone', async () => {
        await found()
        await grant(`${ANN} admin domain:${D1}[strong_auth]`)
        await grant(`${ANN} admin domain:${D1}`)
        expect(await ask(`${ANN} manage domain:${D1}`)).toBe('by admin')
        await revoke(`${ANN} admin domain:${D1}`)
        expect(await ask(`${ANN} manage domain:${D1}`)).toBe('caveat_violation')
        await revoke(`${ANN} admin domain:${D1}[strong_auth]`)
        expect(await ask(`${ANN} manage domain:${D1}`)).toBe('insufficient_relation')
      })

      test('may be one of several on the same binding (SpiceDB: refused, one caveat a binding)', async () => {
        await found()
        await grant(`${ANN} admin domain:${D1}[strong_auth]`)
        const second = await codeOf(() => grant(`${ANN} admin domain:${D1}[from_network]`))
        expect(second).toBe({ embedded: 'none', spicedb: 'invalid_triple' }[engine])
      })
    })

    describe('a write', () => {
      test('counts for the next question of who made it', async () => {
        await found()
        for (let round = 0; round < 5; round++) {
          expect(await grant(`${ANN} admin domain:${D1}`)).toBe(true)
          expect(await ask(`${ANN} manage domain:${D1}`)).toBe('by admin')
          expect(await grant(`${ANN} admin domain:${D1}`)).toBe(false)
          expect(await revoke(`${ANN} admin domain:${D1}`)).toBe(true)
          expect(await ask(`${ANN} manage domain:${D1}`)).toBe('insufficient_relation')
        }
      })

      test('of an object that goes away takes everything that names it', async () => {
        await found()
        await grant(`${ANN} member ${OPS}`)
        await grant(`${OPS}#member admin domain:${D1}`)
        expect(await ask(`${ANN} manage domain:${D1}`)).toBe('by admin.member')
        await replica.change(({ tuples }) => tuples.deleteObject(OPS))
        expect(await ask(`${ANN} manage domain:${D1}`)).toBe('insufficient_relation')
        expect(await ask(`${ANN} member ${OPS}`)).toBe('insufficient_relation')
      })

      test('that is taken back counts for nothing', async () => {
        await found()
        const undone = replica.change(async ({ tuples }) => {
          await tuples.create(tupleOf(`${ANN} admin domain:${D1}`), inDomain(D1))
          throw new Error('changed my mind')
        })
        await expect(undone).rejects.toThrow('changed my mind')
        expect(await ask(`${ANN} manage domain:${D1}`)).toBe('insufficient_relation')
      })

      test('that would make a group its own member is refused', async () => {
        await found()
        await grant(`${OPS}#member member ${ALL}`)
        expect(await codeOf(() => grant(`${ALL}#member member ${OPS}`))).toBe('invalid_triple')
        expect(await codeOf(() => grant(`${OPS}#member member ${OPS}`))).toBe('invalid_triple')
      })

      test('leaves every tuple live', async () => {
        await found()
        await grant(`${ANN} admin domain:${D1}`)
        const { rows } = await sql<{ state: string; count: number }>`
          select state, count(*)::int from relation_tuples group by state`.execute(inUse.current().pool('interactive'))
        expect(rows).toEqual([{ state: 'live', count: 7 }])
      })
    })

    describe('the home of an object', () => {
      test('is the Domain that its parent edges lead to', async () => {
        await found()
        const homes = await Promise.all(
          [PLATFORM, `domain:${D1}`, `project:${P1}`, `node:${N1}`, ANN, BOB].map(async (each) =>
            replica.authorizer.domainOf(each),
          ),
        )
        expect(homes).toEqual([null, D1, D1, D1, D1, D2])
      })

      test('is unknown for what does not exist', async () => {
        expect(await replica.authorizer.domainOf(`domain:${D1}`)).toBe(undefined)
        expect(await replica.authorizer.domainOf(CAT)).toBe(undefined)
        expect(await replica.authorizer.domainOf('ship:x')).toBe(undefined)
      })
    })

    describe('a lookup', () => {
      const EVERY_FACT: ReadonlySet<string> = new Set(['now', 'acr', 'strong_acr'])
      const who = (relation: string, resource: string, facts: Partial<CaveatFacts> = {}) =>
        replica.lookups.subjects({
          subjectType: 'user',
          relation,
          resource,
          facts: { nowMs: NOW_MS, ...facts },
          allowedFacts: EVERY_FACT,
        })
      const what = (subject: string, relation: string, facts: Partial<CaveatFacts> = {}) =>
        replica.lookups.resources({
          subject,
          relation,
          resourceType: 'domain',
          facts: { nowMs: NOW_MS, ...facts },
          allowedFacts: EVERY_FACT,
        })

      test('finds resources in the order of the revisions that made them', async () => {
        await found()
        await grant(`${ANN} viewer domain:${D2}`, inDomain(D2))
        await grant(`${ANN} admin domain:${D1}`)
        expect(await what(ANN, 'read')).toEqual([`domain:${D1}`, `domain:${D2}`])
        expect(await what(ANN, 'manage')).toEqual([`domain:${D1}`])
        expect(await what(BOB, 'read')).toEqual([])
      })

      test('finds subjects, each once, through groups and wildcards', async () => {
        await found()
        await grant(`${BOB} member ${OPS}`)
        await grant(`${OPS}#member admin domain:${D1}`)
        await grant(`${BOB} viewer domain:${D1}`)
        await grant(`${ANN} viewer domain:${D1}`)
        await grant(`user:* viewer domain:${D2}`, inDomain(D2))
        expect(await who('read', `domain:${D1}`)).toEqual([ANN, BOB])
        expect(await who('manage', `domain:${D1}`)).toEqual([BOB])
        expect(await who('read', `domain:${D2}`)).toEqual(['user:*'])
      })

      test('returns what holds without further conditions', async () => {
        await found()
        await configure({ strong_acr: ['gold'] })
        await grant(`${ANN} viewer domain:${D1}[strong_auth]`)
        expect(await who('read', `domain:${D1}`)).toEqual([])
        expect(await what(ANN, 'read')).toEqual([])
        expect(await what(ANN, 'read', { acr: 'iron' })).toEqual([])
        expect(await what(ANN, 'read', { acr: 'gold' })).toEqual([`domain:${D1}`])
      })

      test('refuses references that are malformed and names that the schema does not have', async () => {
        const refused = [
          () => what('user:*', 'read'),
          () => what('nobody', 'read'),
          () => what(ANN, 'fly'),
          () => who('read', 'domain:*'),
          () => who('fly', `domain:${D1}`),
          () => who('read', 'ship:x'),
        ]
        expect(await Promise.all(refused.map((each) => codeOf(each)))).toEqual(refused.map(() => 'invalid_triple'))
      })
    })

    describe('an insight', () => {
      const facts = { nowMs: NOW_MS }
      const outcome = async (text: string): Promise<string> =>
        (await replica.insight.explain(question(text, { wantPath: false }))).outcome

      test('explains a check as it is decided, own writes included', async () => {
        await found()
        expect(await outcome(`${ANN} manage domain:${D1}`)).toBe('denied')
        await grant(`${ANN} admin domain:${D1}`)
        expect(await outcome(`${ANN} manage domain:${D1}`)).toBe('granted')
        await revoke(`${ANN} admin domain:${D1}`)
        expect(await outcome(`${ANN} manage domain:${D1}`)).toBe('denied')
      })

      test('tells what a change would do, and changes nothing', async () => {
        await found()
        const columns = { subject_type: 'user', subject_id: id('1'), subject_relation: '', relation: 'operator' }
        const tuple = { ...columns, resource_type: 'domain', resource_id: D1, caveat_name: '', domain_id: D1 }
        const { changes } = await replica.insight.impact({ edits: [{ op: 'create', tuple }], facts, changesMax: 100 })
        const gained = { subject: ANN, permission: 'deploy', resource: `project:${P1}`, change: 'gains' }
        expect(changes).toContainEqual(gained)
        expect(await ask(`${ANN} deploy project:${P1}`)).toBe('insufficient_relation')
      })
    })

    describe('without its lease', () => {
      test('answers nothing', async () => {
        await found()
        await grant(`${ANN} admin domain:${D1}`)
        replica.feed.stop()
        expect(await codeOf(() => replica.authorizer.check(question(`${ANN} manage domain:${D1}`)))).toBe(
          'authz_unavailable',
        )
      })
    })
  })
}
