import { findRule, type ResolvedTuple } from '../find-rule.ts'
import type { Askable, Model, RelationModel, TypeModel } from '../model.ts'
import type { TupleColumns } from '../tuple.ts'
import { ChangeLog, type Moment, type RecordedColumn } from './change-log.ts'
import { EdgeChains, NONE, type Heads } from './edge-chains.ts'
import { EdgeConditions, type Binding, type Condition } from './edge-conditions.ts'
import { ImageError, type IndexImage } from './index-image.ts'
import { NestingLevels } from './nesting-levels.ts'
import { ObjectRevisions, REVISION_MAX } from './object-revisions.ts'
import { ObjectTable } from './object-table.ts'
import { PairTable } from './pair-table.ts'
import { plainRelations } from './plain-relations.ts'
import { SetTable } from './set-table.ts'
import type { Steps } from '../../steps.ts'
import { SubjectChains } from './subject-chains.ts'

/** The result of a change of a tuple. `unknown`: the schema lacks it or does not allow it; nothing was changed. */
export type Applied = 'changed' | 'unchanged' | 'unknown'

const ALL = '*'

// What the index keeps in the rows of its tables.
const OBJECT = { relations: 5, sets: 6, edges: 7 }
const SET = { objectSubjects: 3, setSubjects: 4, edges: 5 }
const EDGE = { bySet: 2, bySubject: 4 }

/** Relations from this slot on share the last bit of a mask, which then only says "perhaps". */
const SHARED_BIT = 31

/**
 * Every tuple in memory, indexed both ways. An *object* is a number; a *set* is an object with one of its relations or
 * permissions (`group:x#member`); an *edge* joins a set to one of its subjects. Subjects are coded in one integer:
 * `object << 1`, or `set << 1 | 1`. Nothing is ever scanned: a set has a list of its object subjects and one of its set
 * subjects, a subject has a list of the edges it is in, and an edge is found by its ends.
 */
export class TupleIndex {
  readonly objects = new ObjectTable(3)
  readonly sets = new SetTable(this.objects, { first: OBJECT.sets, extra: 3 })
  readonly edges = new PairTable(4)
  readonly conditions = new EdgeConditions()
  /** What changed since states that are still needed. */
  readonly changes: ChangeLog
  /** Edges of one set. */
  readonly bySet = new EdgeChains(this.edges, EDGE.bySet)
  /** Edges of one subject, those that nest first. */
  readonly bySubject = new SubjectChains(this.edges, EDGE.bySubject)
  /** Relations and permissions by their number. */
  readonly members: readonly Askable[]
  readonly #model: Model
  /** By type: the object `*`, or NONE while no tuple uses it. */
  readonly #wildcards: Int32Array
  readonly #wildcardColumn: RecordedColumn
  readonly #subjectKinds: ReadonlySet<number | undefined>
  /** By relation or permission: whether memberships in its sets can be read from below. */
  readonly #isPlain: Uint8Array
  readonly #revisions: ObjectRevisions
  readonly #levels = new NestingLevels(this)
  readonly #objectSubjects: Heads = { owners: this.sets, field: SET.objectSubjects }
  readonly #setSubjects: Heads = { owners: this.sets, field: SET.setSubjects }
  readonly #edgesOfObject: Heads = { owners: this.objects, field: OBJECT.edges }
  readonly #edgesOfSet: Heads = { owners: this.sets, field: SET.edges }

  /** `changes` has room for what may change while a state is needed. */
  constructor(model: Model, changes = new ChangeLog()) {
    this.#model = model
    this.changes = changes
    this.#wildcards = new Int32Array(model.types.length).fill(NONE)
    this.members = model.types
      .flatMap((type) => [...type.relations, ...type.permissions])
      .toSorted((a, b) => a.id - b.id)
    const rules = model.types.flatMap(({ relations }) => relations.flatMap(({ subjects }) => subjects))
    this.#subjectKinds = new Set(rules.map(({ relation }) => relation?.id))
    this.#isPlain = plainRelations(this.members)
    this.#revisions = new ObjectRevisions(this, model.types)
    for (const part of [this.objects, this.sets, this.edges, this.conditions, this.#revisions]) part.recordIn(changes)
    this.#wildcardColumn = changes.column(() => this.#wildcards)
  }

  /**
   * Names the present state, in which `changes.at` can read the index later. Objects are found by their ids, and tuples
   * changed, in the present alone. To be closed with `changes.close`.
   */
  moment(): Moment {
    this.#revisions.cover()
    return this.changes.open()
  }

  /** Adds a tuple that the revision made (0: not known), in place of one that differs in its condition; `unchanged` when it is there. */
  touch(tuple: TupleColumns, revision: number): Applied {
    const found = findRule(this.#model, tuple)
    if ('reason' in found) return 'unknown'
    const set = this.#internSet(this.#intern(found.resourceType, tuple.resource_id), found.relation)
    const subject = this.#internSubject(found, tuple)
    const binding = { condition: conditionOf(found, tuple), revision: Math.min(revision, REVISION_MAX) }
    const edge = this.edges.find(set, subject)
    if (edge === NONE) this.#addEdge(set, subject, binding)
    else if (this.conditions.add(edge, binding)) this.#forgetRevisions(edge)
    else return 'unchanged'
    return 'changed'
  }

  /** Removes a tuple; `unchanged` when it does not exist. */
  remove(tuple: TupleColumns): Applied {
    const found = findRule(this.#model, tuple)
    if ('reason' in found) return 'unknown'
    const edge = this.#findEdge(found, tuple)
    if (edge === NONE) return 'unchanged'
    const taken = this.conditions.take(edge, found.rule.caveat)
    if (taken === 'last') this.#removeEdge(edge)
    else if (taken === 'taken') this.#forgetRevisions(edge)
    return taken === 'absent' ? 'unchanged' : 'changed'
  }

  /** How many tuples there are. */
  get tuples(): number {
    return this.edges.size + this.conditions.extraTuples
  }

  /** Memory that the tables take: nearly all, as long as most ids are UUIDs and most tuples have no caveat. */
  get bytes(): number {
    return this.objects.bytes + this.sets.bytes + this.edges.bytes + this.conditions.bytes + this.#levels.bytes
  }

  /** A copy of everything, for an index of the same schema. */
  image(): IndexImage {
    const edges = this.edges.copyRows()
    return {
      objects: this.objects.copyRows(),
      sets: this.sets.copyRows(),
      edges,
      names: this.objects.names(),
      ...this.conditions.image(this.edges.rowsOf(edges)),
    }
  }

  /** Loads an image of an index of the same schema. This one must be empty. @throws ImageError */
  adopt({ objects, sets, edges, revisions, names, conditions }: IndexImage): void {
    this.objects.adopt(objects, names)
    this.sets.adopt(sets)
    this.edges.adopt(edges)
    if (revisions.length !== this.edges.rowsOf(edges)) throw new ImageError('edges and revisions differ in number')
    this.conditions.adopt(revisions, conditions, this.#model.caveats)
    this.conditions.grow(this.edges.capacity)
    for (const [object, id] of names) if (id === ALL) this.#wildcards[this.objects.typeOf(object)] = object
    for (let set = 0; set < this.sets.rowsOf(sets); set++) this.#adoptLevel(set)
  }

  /** Whether the object may have tuples of the relation. False is certain. */
  mayHave(object: number, { slot }: RelationModel): boolean {
    return (this.objects.cell(object, OBJECT.relations) & relationBit(slot)) !== 0
  }

  /** The object `*` of the type, or NONE. */
  wildcard(type: TypeModel): number {
    return this.#wildcards[type.index] ?? NONE
  }

  /** Whether the object represents everyone of its type. */
  isWildcard(object: number): boolean {
    return this.#wildcards[this.objects.typeOf(object)] === object
  }

  /** Whether sets of the relation or permission may be subjects. */
  isSubjectKind(member: number): boolean {
    return this.#subjectKinds.has(member)
  }

  /**
   * Whether sets of the relation contain nothing but objects and sets of such relations: then anyone who is in one is found
   * by going from the subject along the edges that nest.
   */
  isPlain(relation: number): boolean {
    return this.#isPlain[relation] === 1
  }

  /** Sets within sets that a way through sets of plain relations may pass, at most. */
  get nestingMax(): number {
    return this.#levels.highest
  }

  /** First edge from the set to an object; go on with `bySet.next`. */
  firstObjectSubject(set: number): number {
    return this.sets.cell(set, SET.objectSubjects)
  }

  /** First edge from the set to another set; go on with `bySet.next`. */
  firstSetSubject(set: number): number {
    return this.sets.cell(set, SET.setSubjects)
  }

  /** First edge that has the set as its subject; go on with `bySubject.next`. */
  firstEdgeOfSet(set: number): number {
    return this.bySubject.first(this.#edgesOfSet, set)
  }

  /** First edge that has the object as its subject; go on with `bySubject.next`. */
  firstEdgeOfObject(object: number): number {
    return this.bySubject.first(this.#edgesOfObject, object)
  }

  /** First edge that puts the set into one that may be a subject in turn; go on with `bySubject.nextNesting`. */
  firstNestingOfSet(set: number): number {
    return this.bySubject.firstNesting(this.#edgesOfSet, set)
  }

  /** First edge that puts the object into a set that may be a subject; go on with `bySubject.nextNesting`. */
  firstNestingOfObject(object: number): number {
    return this.bySubject.firstNesting(this.#edgesOfObject, object)
  }

  /**
   * The lowest revision among the tuples that have the object as their resource or, where there are none, as their
   * subject: what lookup results are ordered by. 0 for an object without tuples.
   */
  firstRevision(object: number): number {
    return this.#revisions.first(object)
  }

  /** The same where it was computed before. */
  knownRevision(object: number): number | undefined {
    return this.#revisions.known(object)
  }

  /** Computes `firstRevision`, which takes as long as the object has tuples. */
  findRevision(object: number): Steps<number> {
    return this.#revisions.find(object)
  }

  #intern(type: TypeModel, id: string): number {
    const known = this.objects.find(type.index, id, 0)
    if (known !== NONE) return known
    const object = this.objects.insert(type.index, id)
    this.objects.setCell(object, OBJECT.relations, 0)
    this.#revisions.forget(object)
    if (id === ALL) this.#setWildcard(type.index, object)
    return object
  }

  #internSet(object: number, member: Askable): number {
    const known = this.sets.find(object, member.id)
    if (known !== NONE) return known
    return this.sets.insert(object, member.id)
  }

  #internSubject({ rule }: ResolvedTuple, tuple: TupleColumns): number {
    const object = this.#intern(rule.type, tuple.subject_id)
    return rule.relation === undefined ? object << 1 : (this.#internSet(object, rule.relation) << 1) | 1
  }

  #findEdge({ resourceType, relation, rule }: ResolvedTuple, tuple: TupleColumns): number {
    const set = this.sets.find(this.objects.find(resourceType.index, tuple.resource_id, 0), relation.id)
    const object = this.objects.find(rule.type.index, tuple.subject_id, 0)
    const subject = rule.relation === undefined ? object << 1 : (this.sets.find(object, rule.relation.id) << 1) | 1
    return this.edges.find(set, subject)
  }

  #addEdge(set: number, subject: number, binding: Binding): void {
    const edge = this.edges.insert(set, subject)
    this.conditions.grow(this.edges.capacity)
    this.conditions.start(edge, binding)
    this.bySet.push(this.#subjectHeads(subject), set, edge)
    this.#linkSubject(edge, set, subject)
    const object = this.sets.objectOf(set)
    // The first tuple of a resource outranks those that it is the subject of, whatever their revisions.
    const relations = this.objects.cell(object, OBJECT.relations)
    if ((relations & ~relationBit(SHARED_BIT)) === 0) this.#revisions.forget(object)
    this.objects.setCell(object, OBJECT.relations, relations | this.#bitOf(set))
    this.#changeRevisions(edge)
  }

  #linkSubject(edge: number, set: number, subject: number): void {
    const heads = this.#edgeHeads(subject)
    const owner = subject >> 1
    if (!this.isSubjectKind(this.sets.memberOf(set))) return this.bySubject.push(heads, owner, edge)
    this.bySubject.pushNesting(heads, owner, edge)
    if (isSet(subject)) this.#levels.nest(set, owner)
  }

  #adoptLevel(set: number): void {
    const first = this.firstSetSubject(set)
    if (first === NONE || !this.isSubjectKind(this.sets.memberOf(set))) return
    for (let edge = first; edge !== NONE; edge = this.bySet.next(edge)) this.#levels.nest(set, this.edges.b(edge) >> 1)
  }

  /** Recomputes both endpoints' revisions when the edge changes. */
  #changeRevisions(edge: number): void {
    const revision = this.conditions.firstRevision(edge)
    this.#revisions.changed(this.sets.objectOf(this.edges.a(edge)), revision)
    this.#revisions.changed(this.#objectOf(this.edges.b(edge)), revision)
  }

  #forgetRevisions(edge: number): void {
    this.#revisions.forget(this.sets.objectOf(this.edges.a(edge)))
    this.#revisions.forget(this.#objectOf(this.edges.b(edge)))
  }

  /** The object of a subject code: itself, or the one that its set belongs to. */
  #objectOf(subject: number): number {
    return isSet(subject) ? this.sets.objectOf(subject >> 1) : subject >> 1
  }

  #removeEdge(edge: number): void {
    const set = this.edges.a(edge)
    const subject = this.edges.b(edge)
    this.#changeRevisions(edge)
    this.bySet.drop(this.#subjectHeads(subject), set, edge)
    this.bySubject.drop(this.#edgeHeads(subject), subject >> 1, edge)
    this.conditions.forget(edge)
    this.edges.remove(edge)
    this.#clearRelation(set)
    if (this.firstSetSubject(set) === NONE) this.#levels.clear(set)
    this.#releaseSet(set)
    if (isSet(subject)) this.#releaseSet(subject >> 1)
    else this.#releaseObject(subject >> 1)
  }

  #clearRelation(set: number): void {
    if (!this.#isEmpty(set)) return
    const bit = this.#bitOf(set)
    const object = this.sets.objectOf(set)
    if (bit === relationBit(SHARED_BIT)) return
    this.objects.setCell(object, OBJECT.relations, this.objects.cell(object, OBJECT.relations) & ~bit)
  }

  #isEmpty(set: number): boolean {
    return this.firstObjectSubject(set) === NONE && this.firstSetSubject(set) === NONE
  }

  #bitOf(set: number): number {
    const member = this.members[this.sets.memberOf(set)]
    return member?.kind === 'relation' ? relationBit(member.slot) : 0
  }

  #subjectHeads(subject: number): Heads {
    return isSet(subject) ? this.#setSubjects : this.#objectSubjects
  }

  #edgeHeads(subject: number): Heads {
    return isSet(subject) ? this.#edgesOfSet : this.#edgesOfObject
  }

  /** Takes out a set without edges, and its object with it once that has nothing else. Both may be out already. */
  #releaseSet(set: number): void {
    const object = this.sets.objectOf(set)
    if (object === NONE || !this.#isEmpty(set) || this.sets.cell(set, SET.edges) !== NONE) return
    this.sets.remove(set)
    this.#releaseObject(object)
  }

  #releaseObject(object: number): void {
    if (this.objects.cell(object, OBJECT.sets) !== NONE || this.objects.cell(object, OBJECT.edges) !== NONE) return
    const type = this.objects.typeOf(object)
    if (type === NONE) return
    if (this.#wildcards[type] === object) this.#setWildcard(type, NONE)
    this.objects.remove(object)
  }

  #setWildcard(type: number, object: number): void {
    if (this.changes.isOpen) this.#wildcardColumn.note(type, this.#wildcards[type] ?? NONE, object)
    this.#wildcards[type] = object
  }
}

/** Whether a subject code names a set. */
export function isSet(subject: number): boolean {
  return (subject & 1) === 1
}

function relationBit(slot: number): number {
  return 1 << Math.min(slot, SHARED_BIT)
}

function conditionOf({ rule }: ResolvedTuple, tuple: TupleColumns): Condition | undefined {
  const { caveat, expires } = rule
  if (caveat === undefined && !expires) return undefined
  const { domain_id: domainId, caveat_context: context, expires_at_ms: expiresAtMs = Infinity } = tuple
  return { caveat, domainId, context, expiresAtMs }
}
