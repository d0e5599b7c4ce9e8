import { ProblemAnswer } from '../../failures.ts'

/** The dimension of capacity of which a Domain has too much; undefined for any other failure. */
export function dimensionOf(error: unknown): string | undefined {
  const dimension = error instanceof ProblemAnswer ? error.document['dimension'] : undefined
  return typeof dimension === 'string' ? dimension : undefined
}
