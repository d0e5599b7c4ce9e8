/** A position in a schema text. Lines and columns are counted from 1, columns in UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** A schema cannot be loaded; no part of it is. The message ends with what was expected at the position. */
export class SchemaError extends Error {
  readonly position: Position

  constructor(position: Position, reason: string) {
    super(`${position.line}:${position.column}: ${reason}`)
    this.name = 'SchemaError'
    this.position = position
  }
}
