import type { Position } from './schema-error.ts'

/** A schema text as parsed, before names are resolved. */
export interface SchemaNode {
  readonly uses: readonly string[]
  readonly definitions: readonly DefinitionNode[]
  readonly caveats: readonly CaveatNode[]
}

export interface DefinitionNode {
  readonly name: string
  readonly at: Position
  readonly relations: readonly RelationNode[]
  readonly permissions: readonly PermissionNode[]
}

/** `relation name: user | group#member | user:* with caveat`. */
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
}

export interface PermissionNode {
  readonly name: string
  readonly at: Position
  readonly expression: ExpressionNode
}

export type ExpressionNode =
  | { readonly kind: 'reference'; readonly name: string; readonly at: Position }
  | { readonly kind: 'arrow'; readonly relation: string; readonly target: string; readonly at: Position }
  | { readonly kind: 'self' | 'nil'; readonly at: Position }
  | {
      readonly kind: 'union' | 'intersection' | 'exclusion'
      readonly left: ExpressionNode
      readonly right: ExpressionNode
      readonly at: Position
    }

/** `caveat name(field type, …) { CEL }`. The expression is kept as text. */
export interface CaveatNode {
  readonly name: string
  readonly at: Position
  readonly fields: readonly { readonly name: string; readonly type: string; readonly at: Position }[]
  readonly expression: string
}
