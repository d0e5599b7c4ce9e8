import type { Position } from './schema-error.ts'

/** A schema text as parsed, before names are resolved. */
export interface SchemaNode {
  readonly uses: readonly string[]
  readonly definitions: readonly DefinitionNode[]
  readonly caveats: readonly CaveatNode[]
  /** Members that several definitions include with `...name`. */
  readonly partials: readonly DefinitionNode[]
}

export interface DefinitionNode {
  readonly name: string
  readonly at: Position
  readonly relations: readonly RelationNode[]
  readonly permissions: readonly PermissionNode[]
  /** The partials whose members it includes. */
  readonly includes: readonly NameNode[]
}

export interface NameNode {
  readonly name: string
  readonly at: Position
}

/** `relation name: user | group#member | user:* with caveat and expiration`. */
export interface RelationNode {
  readonly name: string
  readonly at: Position
  readonly subjects: readonly SubjectTypeNode[]
  /** Marked `@structural` in the comment before it. */
  readonly structural: boolean
}

export interface SubjectTypeNode {
  readonly type: string
  readonly at: Position
  /** The `#relation`; undefined for the object itself and for a wildcard. */
  readonly relation: string | undefined
  readonly wildcard: boolean
  readonly caveat: string | undefined
  readonly expires: boolean
}

/** `permission name: user | group = expression`. */
export interface PermissionNode {
  readonly name: string
  readonly at: Position
  /** All types of subjects that may have the permission; undefined if the schema does not declare them. */
  readonly subjectTypes: readonly string[] | undefined
  readonly expression: ExpressionNode
}

export type ExpressionNode =
  | { readonly kind: 'reference'; readonly name: string; readonly at: Position }
  | ArrowNode
  | { readonly kind: 'self' | 'nil'; readonly at: Position }
  | OperationNode

/** `relation->target` and `relation.any(target)`, or `relation.all(target)`. */
export interface ArrowNode {
  readonly kind: 'arrow' | 'all'
  readonly relation: string
  readonly target: string
  readonly targetAt: Position
  readonly at: Position
}

/** Two or more operands of one operator, in the order of the text. In an exclusion, all but the first are excluded. */
export interface OperationNode {
  readonly kind: 'union' | 'intersection' | 'exclusion'
  readonly parts: readonly ExpressionNode[]
  readonly at: Position
}

/** `caveat name(field type, …) { CEL }`. The expression is kept as text. */
export interface CaveatNode {
  readonly name: string
  readonly at: Position
  readonly fields: readonly { readonly name: string; readonly type: string; readonly at: Position }[]
  readonly expression: string
  readonly expressionAt: Position
}
