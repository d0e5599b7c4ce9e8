import type {
  CaveatModel,
  Expression,
  Model,
  PermissionModel,
  RelationModel,
  SubjectRule,
  TypeModel,
} from '../model.ts'

/** A model while it is built; read-only once it is handed out. */
export interface ModelDraft extends Model {
  readonly types: TypeDraft[]
  readonly byName: Map<string, TypeDraft>
  readonly caveats: Map<string, CaveatModel>
}

export interface TypeDraft extends TypeModel {
  readonly relations: RelationDraft[]
  readonly permissions: PermissionDraft[]
  readonly writable: Map<string, RelationModel>
  readonly askable: Map<string, MemberDraft>
  /** Relations and permissions by the name in the schema. */
  readonly members: Map<string, MemberDraft>
}

export interface RelationDraft extends RelationModel {
  readonly subjects: SubjectRule[]
}

export interface PermissionDraft extends Omit<PermissionModel, 'expression'> {
  expression: Expression
}

export type MemberDraft = RelationDraft | PermissionDraft

/** The expression that grants nobody; also what a permission has until every name is declared. */
export const NOTHING: Expression = { op: 'nil', parts: [], reference: undefined, tupleset: undefined, targets: [] }
