import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createEmbeddedInsight } from '../../../../../src/server/adapters/embedded-authz/insight.ts'
import { createEmbeddedLookups } from '../../../../../src/server/adapters/embedded-authz/lookups.ts'
import { CallerGone } from '../../../../../src/server/ports/caller-gone.ts'
import { ChangeLog } from '../../../../../src/shared/authz/engine/change-log.ts'
import { Checker } from '../../../../../src/shared/authz/engine/checker.ts'
import { TupleIndex } from '../../../../../src/shared/authz/engine/tuple-index.ts'
import { UNKNOWN, VIOLATED, YES, type Verdict } from '../../../../../src/shared/authz/engine/verdict.ts'
import type { Explanation } from '../../../../../src/shared/authz/explanation.ts'
import { compileSchema } from '../../../../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../../../../src/shared/authz/language/parser.ts'
import { createTimeSlices, type TimeSlices } from '../../../../../src/shared/time-slices.ts'
import { createRandom, type Random } from '../../../../fuzz/authz/random.ts'
import {
  DOCUMENTS_SCHEMA,
  naiveDocuments,
  type NaiveFacts,
  type StoredTuple,
} from '../../../../support/authz/naive-documents.ts'
import { tuple } from '../../../../support/authz/tuples.ts'
import { depth } from '../../../../support/run/depth.ts'

const MODEL = compileSchema(parseSchema(DOCUMENTS_SCHEMA))
const DOMAIN = 'domain'
const SETTINGS = { trustedNetworks: [], businessHours: undefined, strongAcr: ['high'] }
const KNOWN_SETTINGS = { has: () => true, get: () => SETTINGS, load: async () => undefined, drop: () => undefined }

const [USERS, GROUPS, FOLDERS, DOCS] = [10, 8, 12, 700]
/** The tables of the index grow in campaigns that begin with few. */
const TUPLES = [300, 1_800]
/** Facts are of some time in it; tuples expire in it or never. */
const DAY_MS = 86_400_000

const docOf = (at: number): string =>
  at % 2 === 0 ? `doc:d${at}` : `doc:01935b5e-8f3a-7c61-9d0a-${at.toString(16).padStart(12, '0')}`

/** A tuple of documents from the number on; no group or folder is within itself. */
function drawTuple(random: Random, firstDoc: number): string {
  const user = `user:u${random.below(USERS)}`
  const group = random.below(GROUPS - 1)
  const folder = random.below(FOLDERS - 1)
  const doc = docOf(firstDoc + random.below(DOCS))
  const bearer = random.chance(0.2) ? `group:g${group}#member` : user
  return random.pick([
    () => `group:g${group}#member@${random.chance(0.5) ? user : `group:g${group + 1}#member`}`,
    () => `folder:f${folder + 1}#parent@folder:f${random.below(folder + 1)}`,
    () => `folder:f${folder}#viewer@${bearer}`,
    () => `folder:f${folder}#banned@${user}`,
    ...Array.from({ length: 8 }, () => () => `${doc}#parent@folder:f${random.below(3)}`),
    ...Array.from({ length: 4 }, () => () => `${doc}#viewer@${bearer}`),
    () => `${doc}#viewer@${user}[strong]`,
    () => `${doc}#reviewer@${bearer}`,
    () => `${doc}#public@user:*`,
  ])()
}

/** The tuples as stored, beside the index that follows them. */
function createWorld(random: Random, changesMax: number) {
  const stored = new Map<string, StoredTuple>()
  let revision = 0
  let firstDoc = 0
  const indexes: TupleIndex[] = []

  function loadAll() {
    const index = new TupleIndex(MODEL, new ChangeLog(changesMax))
    indexes.push(index)
    for (const { tuple: each, revision: made } of stored.values()) index.touch(each, made)
    return { index, checker: new Checker(index), unknownTuples: 0, unsavedChanges: 0 }
  }

  let loaded = loadAll()

  /** Tuples of some relations expire, where they name a user and have no caveat. */
  function columnsOf(text: string) {
    const columns = tuple(text, DOMAIN)
    const mayExpire = /#(?:viewer|member)@user:\w+$/.test(text) && random.chance(0.3)
    return mayExpire ? { ...columns, expires_at_ms: random.below(DAY_MS) } : columns
  }

  function touch(): void {
    const text = drawTuple(random, firstDoc)
    const columns = columnsOf(text)
    revision += random.below(2)
    stored.set(text, { tuple: columns, revision })
    loaded.index.touch(columns, revision)
  }

  function remove(text: string): void {
    const was = stored.get(text)
    if (was === undefined) return
    stored.delete(text)
    loaded.index.remove(was.tuple)
  }

  for (let left = random.pick(TUPLES); left > 0; left--) touch()

  return {
    indexes,
    current: () => loaded,
    snapshot: (): readonly StoredTuple[] => [...stored.values()],
    /** Writes that come in between two turns: a few, seldom many, seldom a new index. */
    write(): void {
      for (let left = random.chance(0.05) ? 400 : random.below(30); left > 0; left--) {
        if (random.chance(0.45)) remove(drawTuple(random, firstDoc))
        else touch()
      }
      // The rows of documents that are gone are given to others.
      if (random.chance(0.1)) for (const text of stored.keys()) if (text.startsWith(docOf(firstDoc))) remove(text)
      if (random.chance(0.3)) firstDoc++
      if (random.chance(0.02)) loaded = loadAll()
    },
  }
}

/** What a question is answered from: the tuples at the first step of the attempt that answers it. */
interface Asked {
  start: readonly StoredTuple[]
  attempts: number
}

/** How far the caveat holds where its facts are known. */
const strongFor = (acr: string): Verdict => (acr === 'high' ? YES : VIOLATED)

type World = ReturnType<typeof createWorld>

/** Slices of some steps over a clock that goes on with each, which note the tuples at the first of them. */
function notingSlices(
  world: World,
  sliceMs: number,
): { readonly slices: TimeSlices; readonly asked: AsyncLocalStorage<Asked> } {
  let ticks = 0
  const real = createTimeSlices({ now: () => ++ticks, sliceMs })
  const asked = new AsyncLocalStorage<Asked>()
  const slices: TimeSlices = {
    run(steps, { around, ...options } = {}) {
      const noted = asked.getStore()
      let isFirst = true
      return real.run(steps, {
        ...options,
        around(slice) {
          if (isFirst && noted !== undefined)
            Object.assign(noted, { start: world.snapshot(), attempts: noted.attempts + 1 })
          isFirst = false
          if (around === undefined) slice()
          else around(slice)
        },
      })
    },
  }
  return { slices, asked }
}

/** Answers that took several turns, and those that ended otherwise. */
const counts = { later: 0, again: 0, gone: 0, refused: 0 }

function createCampaign(seed: number) {
  const random = createRandom(seed)
  // In some campaigns the log holds what a few turns change.
  const world = createWorld(random, random.chance(0.3) ? 3_000 : 300_000)
  const { slices, asked } = notingSlices(world, random.pick([2, 6]))
  const deps = { model: MODEL, usableTuples: world.current, settings: KNOWN_SETTINGS, slices }
  const lookups = createEmbeddedLookups(deps)
  const insight = createEmbeddedInsight({ ...deps, domainIn: () => DOMAIN })

  function drawFacts() {
    const isAllowed = random.chance(0.7)
    const nowMs = random.below(DAY_MS)
    const acr = random.pick(['high', 'low'])
    const naive: NaiveFacts = { nowMs, strong: isAllowed ? strongFor(acr) : UNKNOWN }
    const allowedFacts = new Set(isAllowed ? ['acr', 'strong_acr'] : [])
    return { naive, query: { facts: { nowMs, acr }, allowedFacts } }
  }

  const userOf = (): string => `user:u${random.below(USERS + 1)}`

  async function askResources(): Promise<void> {
    const { naive, query } = drawFacts()
    const [subject, relation] = [userOf(), random.pick(['view', 'review', 'open', 'viewer'])]
    await settle(
      query,
      (facts) => lookups.resources({ subject, relation, resourceType: 'doc', ...facts }),
      (found, start) => expect(found).toEqual(naiveDocuments(start, naive).resources(subject, 'doc', relation)),
    )
  }

  async function askSubjects(): Promise<void> {
    const { naive, query } = drawFacts()
    const resource = random.chance(0.5) ? `folder:f${random.below(FOLDERS)}` : docOf(random.below(DOCS))
    const ask = { subjectType: 'user', relation: 'view', resource }
    await settle(
      query,
      (facts) => lookups.subjects({ ...ask, ...facts }),
      (found, start) => expect(found).toEqual(naiveDocuments(start, naive).subjects(resource, 'view')),
    )
  }

  async function askExplanation(): Promise<void> {
    const { naive, query } = drawFacts()
    const asking = { subject: userOf(), relation: random.pick(['view', 'review']), resource: docOf(random.below(DOCS)) }
    await settle(
      query,
      (facts) => insight.explain({ ...asking, ...facts, wantPath: true }),
      (explained, start) => {
        const was = naiveDocuments(start, naive)
        expect(explained.outcome).toBe(was.outcome(asking.subject, asking.resource, asking.relation))
        expectTree(explained.tree, { subject: asking.subject, was })
        for (const tuples of explained.remedies) {
          const added = tuples.map((each) => ({
            tuple: tuple(`${each.resource}#${each.relation}@${each.subject}`),
            revision: 0,
          }))
          const tried = naiveDocuments([...world.snapshot(), ...added], naive)
          expect(tried.outcome(asking.subject, asking.resource, asking.relation)).toBe('granted')
        }
      },
    )
  }

  /** Asks, perhaps for a caller that goes away, and compares the answer with the tuples that it is from. */
  async function settle<Q extends object, T>(
    query: Q,
    ask: (query: Q & { readonly isAbandoned: () => boolean }) => T | Promise<T>,
    compare: (answer: T, start: readonly StoredTuple[]) => void,
  ): Promise<void> {
    let patience = random.chance(0.1) ? random.below(6) : Infinity
    const noted: Asked = { start: [], attempts: 0 }
    try {
      const answer = asked.run(noted, () => ask({ ...query, isAbandoned: () => patience-- <= 0 }))
      // Compared before anything else is written.
      if (!(answer instanceof Promise)) return compare(answer, noted.start)
      compare(await answer, noted.start)
      counts.later++
      if (noted.attempts > 1) counts.again++
    } catch (error) {
      if (error instanceof CallerGone) counts.gone++
      else if (error instanceof Error && 'code' in error && error.code === 'authz_unavailable') counts.refused++
      else throw error
    }
  }

  /** What others ask between two turns is answered from the present. */
  function checkPresent(): void {
    const { nowMs, acr } = drawFacts().query.facts
    const subject = userOf()
    const few = lookups.fewResources({
      subject,
      relation: 'view',
      resourceType: 'doc',
      max: 2_000,
      facts: { nowMs, acr },
    })
    if (!Array.isArray(few)) throw new Error('more documents than there are')
    const present = naiveDocuments(world.snapshot(), { nowMs, strong: strongFor(acr) })
    expect(few.map((id) => `doc:${id}`).toSorted()).toEqual(present.resources(subject, 'doc', 'view').toSorted())
  }

  return { random, world, questions: [askResources, askResources, askSubjects, askExplanation], checkPresent }
}

/** Each relation and permission of the tree came out as it was, and each tuple of it was there. */
function expectTree(
  node: Explanation,
  asked: { readonly subject: string; readonly was: ReturnType<typeof naiveDocuments> },
): void {
  const { kind, object, name, outcome, subject } = node
  if (kind === 'relation' || kind === 'permission') expect(outcome).toBe(asked.was.outcome(asked.subject, object, name))
  if (kind === 'tuple') expect(asked.was.has(object, name, subject ?? ''), `${object}#${name}@${subject}`).toBe(true)
  for (const part of node.parts) expectTree(part, asked)
}

const TURNS = 120

test(
  'answers are from the tuples at their first step, whatever is written between their slices',
  { timeout: depth({ ci: 120_000, deep: 600_000 }) },
  async () => {
    for (let seed = 1; seed <= depth({ ci: 10, deep: 300 }); seed++) {
      const { random, world, questions, checkPresent } = createCampaign(seed)
      const asked: Promise<void>[] = []
      for (let turn = 0; turn < TURNS; turn++) {
        if (random.chance(0.25)) asked.push(random.pick(questions)())
        world.write()
        if (random.chance(0.1)) checkPresent()
        await nextTurn()
      }
      await Promise.all(asked)
      for (const { changes } of world.indexes) expect([changes.isOpen, changes.size]).toEqual([false, 0])
    }
    expect(counts.later).toBeGreaterThan(50)
    expect(counts.again).toBeGreaterThan(0)
    expect(counts.refused).toBeGreaterThan(0)
    expect(counts.gone).toBeGreaterThan(2)
  },
)
