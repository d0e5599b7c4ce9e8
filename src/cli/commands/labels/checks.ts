import { ProblemAnswer } from '../../../client/failures.ts'
import type { LabelValue } from '../../../shared/labels/schema-types.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT, exitCodeOf } from '../../errors/exit-code.ts'
import type { LabelledObject } from './objects.ts'
import type { Definition, Label } from './reading.ts'

/** A label that is to be set, with the Definition of its key. */
export interface Wanted {
  /** As it was typed. */
  readonly key: string
  readonly definition: Definition
  readonly value: LabelValue
}

/**
 * Refuses labels that the server would refuse for what their Definitions say: the kind of the object, or the value. Throws exit
 * code 9 with the key, so that nothing is set when one of several does not fit.
 */
export async function assertFits(labels: readonly Wanted[], { kind }: LabelledObject): Promise<void> {
  // Patterns bring a regular-expression engine, which no other command needs.
  const { createValueCheck } = await import('../../../shared/labels/value-schema.ts')
  for (const { key, definition, value } of labels) {
    const { kinds, value_schema: schema } = definition
    if (kinds.length > 0 && !kinds.includes(kind))
      throw refusedLabel(`${key} is a label of other kinds of objects, not of a ${kind}`, [
        `  It is for: ${kinds.join(', ')}`,
      ])
    const sentence = createValueCheck(schema)(value)
    if (sentence !== undefined) throw refusedLabel(`${key} cannot be ${JSON.stringify(value)}`, [`  ${sentence}`])
  }
}

function refusedLabel(message: string, hints: readonly string[]): CliError {
  return new CliError(message, { exitCode: EXIT.invalid, code: 'aggregate_invariant', hints })
}

/** Refuses labels that have another value already and may not change. Throws exit code 6 with the key. */
export function assertChangeable(labels: readonly Wanted[], present: readonly Label[]): void {
  for (const { key, definition, value } of labels) {
    const found = present.find(({ definition_id: id }) => id === definition.id)
    if (definition.immutable && found !== undefined && found.value !== value) throw immutableLabel(key)
  }
}

/** The refusal of a change of an immutable label, with its key; any other failure as it is. */
export function withKey(error: unknown, key: string): unknown {
  const isImmutable = error instanceof ProblemAnswer && error.code === 'immutable_violation'
  return isImmutable ? immutableLabel(key, error) : error
}

function immutableLabel(key: string, cause?: unknown): CliError {
  return new CliError(`${key} is immutable: once it is set it is neither changed nor removed`, {
    exitCode: exitCodeOf(409),
    code: 'immutable_violation',
    cause,
  })
}
