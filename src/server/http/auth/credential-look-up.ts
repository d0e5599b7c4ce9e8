import { problem } from '../../../shared/problems.ts'
import { DatastoreOverloaded, isUnavailable } from '../../ports/datastore.ts'

/**
 * Reads a credential from the datastore.
 *
 * @throws Problem `datastore_unavailable` when it cannot be read, `overloaded` when too many callers wait already: the
 *   credential is then neither accepted nor refused.
 */
export async function lookUp<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DatastoreOverloaded) throw problem('overloaded', { retry_after_seconds: 1 }, error)
    if (isUnavailable(error)) throw problem('datastore_unavailable', {}, error)
    throw error
  }
}
