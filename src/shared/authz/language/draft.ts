import type {
  Askable,
  CaveatModel,
  Expression,
  Model,
  PermissionModel,
  RelationModel,
  SubjectRule,
  TypeModel,
} from '../model.ts'
import { SchemaError, type Position } from './schema-error.ts'

/** A model under construction; read-only once it is returned. */
export interface ModelDraft extends Model {
  readonly types: TypeDraft[]
  readonly byName: Map<string, TypeDraft>
  readonly caveats: Map<string, CaveatModel>
  /** The target of an arrow on each type, by the type's index. Call it only after every member is declared. */
  targetsOf(name: string, at: Position): readonly (Askable | undefined)[]
}

/** Maximum size of all target tables: types times distinct arrow targets. */
const TARGETS_MAX = 5_000_000

export function createModelDraft(): ModelDraft {
  const types: TypeDraft[] = []
  const byName = new Map<string, TypeDraft>()
  const targets = new Map<string, readonly (Askable | undefined)[]>()
  return {
    types,
    byName,
    caveats: new Map(),
    type: (name) => byName.get(name),
    targetsOf(name, at) {
      const known = targets.get(name)
      if (known !== undefined) return known
      if ((targets.size + 1) * types.length > TARGETS_MAX)
        throw new SchemaError(at, 'expected a schema with fewer arrows')
      const found = types.map((type) => type.members.get(name))
      targets.set(name, found)
      return found
    },
  }
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

/** The expression that grants no subject. Permissions have it until every name is declared. */
export const NOTHING: Expression = { op: 'nil', parts: [], reference: undefined, tupleset: undefined, targets: [] }
