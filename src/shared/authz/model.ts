/** A compiled schema. Types, relations and permissions are numbered so that the engine can work on integers. */
export interface Model {
  readonly types: readonly TypeModel[]
  readonly caveats: ReadonlyMap<string, CaveatModel>
  /** Looks a type up by name. */
  type(name: string): TypeModel | undefined
}

export interface TypeModel {
  readonly index: number
  readonly name: string
  /** What tuples may use, by slot. */
  readonly relations: readonly RelationModel[]
  readonly permissions: readonly PermissionModel[]
  /** The relation that tuples of that name use. */
  readonly writable: ReadonlyMap<string, RelationModel>
  /** What a question of that name asks: the permission where there is one, else the relation. */
  readonly askable: ReadonlyMap<string, Askable>
}

export type Askable = RelationModel | PermissionModel

export interface RelationModel {
  readonly kind: 'relation'
  /** Number of the relation or permission in the whole model. */
  readonly id: number
  readonly type: TypeModel
  /** The name that callers use, and the one in the schema. */
  readonly name: string
  readonly engineName: string
  /** Place among the relations of its type. */
  readonly slot: number
  /** A parent edge: written by the service with the object, by nobody else. */
  readonly structural: boolean
  readonly subjects: readonly SubjectRule[]
}

/** One kind of subject that a relation takes. */
export interface SubjectRule {
  readonly type: TypeModel
  readonly kind: 'object' | 'userset' | 'wildcard'
  /** The relation or permission of a userset (`group#member`). */
  readonly relation: Askable | undefined
  /** The caveat that the tuple must carry; undefined for none. */
  readonly caveat: CaveatModel | undefined
  /** Whether the tuple must say when it expires; one that does fits no other rule. */
  readonly expires: boolean
}

export interface PermissionModel {
  readonly kind: 'permission'
  readonly id: number
  readonly type: TypeModel
  readonly name: string
  readonly engineName: string
  readonly expression: Expression
}

/** `arrow` holds when it does on any object that it reaches, `all` when it reaches one and does on each. */
export type Operation = 'reference' | 'arrow' | 'all' | 'self' | 'nil' | 'union' | 'intersection' | 'exclusion'

/** One node of a permission's expression. One shape for every operation, so that evaluation stays monomorphic. */
export interface Expression {
  readonly op: Operation
  /** Operands of union, intersection and exclusion, in the order of the text. */
  readonly parts: readonly Expression[]
  /** What a reference names, on the same object. */
  readonly reference: Askable | undefined
  /** The relation that an arrow follows. */
  readonly tupleset: RelationModel | undefined
  /** What an arrow asks of each object that it reaches, by the index of that object's type; undefined where it has no such name. */
  readonly targets: readonly (Askable | undefined)[]
}

export interface CaveatModel {
  readonly name: string
  /** What it may read, in order. */
  readonly parameters: readonly CaveatParameter[]
  /** CEL text. */
  readonly expression: string
}

export interface CaveatParameter {
  readonly name: string
  /** As the schema spells it: `int`, `list<string>`, `map<any>`. */
  readonly type: string
}
