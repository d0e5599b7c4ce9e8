/** The sentence of `overloaded` where an event stream is asked for: it is refused sooner than other calls. */
export const STREAM_OVERLOADED =
  'The server can open no more event streams right now, or has more to do than it can finish in time; retry after the time in Retry-After.'
