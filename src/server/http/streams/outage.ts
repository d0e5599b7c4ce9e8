import { problem, Problem } from '../../../shared/problems.ts'
import { isUnavailable } from '../../ports/datastore.ts'
import { EventBusUnavailable } from '../../ports/event-bus.ts'

/** Whether a failure only means that a dependency is unavailable for now. */
export function isOutage(error: unknown): boolean {
  if (error instanceof EventBusUnavailable || isUnavailable(error)) return true
  return error instanceof Problem && error.status === 503
}

/** The error of a stream that cannot begin: `event_stream_unavailable` where a dependency is unavailable for now. */
export function beginningFailure(error: unknown): unknown {
  return isOutage(error) ? problem('event_stream_unavailable', {}, error) : error
}
