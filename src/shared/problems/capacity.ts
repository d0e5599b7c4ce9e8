import { invalid, row, unavailable } from './row.ts'

/** Problems of the capacity of Domains. Calls beyond a target are refused with `capacity_exceeded` of the executions. */
export const CAPACITY_PROBLEMS = {
  invalid_capacity_target: invalid(
    'Invalid target',
    'A target must be a whole number from 0 to 9,007,199,254,740,991, or null for the default.',
  ),
  invalid_dimension: invalid('Invalid dimension', 'The dimension is none of the six of the capacity of a Domain.'),
  invalid_capacity_filter: invalid('Invalid filter', 'The filter must be an instant in RFC 3339.'),
  capacity_not_sampled: unavailable(
    'Not sampled yet',
    'This server has taken no sample of the Domain yet; retry after the time in Retry-After.',
  ),
  capacity_not_provisioned: row(501, 'Not provisioned', 'This server does not observe the capacity of Domains.'),
} as const
