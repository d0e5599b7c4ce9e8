import { invalid, row } from './row.ts'

interface TripleFault {
  readonly part?: 'subject' | 'relation' | 'resource' | 'caveat'
  readonly reason?: string
}

/** Problems of tuples and roles. */
export const AUTHZ_PROBLEMS = {
  invalid_triple: invalid<TripleFault>(
    'Invalid triple',
    'The subject, relation or resource is empty, malformed or not allowed there.',
  ),
  invalid_tuple_id: invalid('Invalid tuple id', 'The tuple id must be a UUID other than zero.'),
  tuple_not_found: row(404, 'Tuple not found', 'No such tuple exists.'),
  resource_not_in_project: invalid(
    'Resource not in the Project',
    'The resource is neither the Project nor an object in it.',
  ),
  tuple_already_exists: row(409, 'Tuple already exists', 'An identical tuple exists already.'),
} as const
