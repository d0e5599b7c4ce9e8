import type { Cut } from '../../../client/event-stream.ts'

/** A warning that a stream was cut, and from where it goes on; `last` is the id of the last event that was taken. */
export function cutSentence({ reason, cause, pauseMs }: Cut, last: string | undefined): string {
  const why = cause === undefined ? reason.replaceAll('_', ' ') : cause.message
  const where =
    last === undefined ? 'going on with what comes then' : `going on after ${last}, so that nothing is left out`
  return `the stream was cut (${why}); ${where}, in ${(pauseMs / 1000).toFixed(1)}s`
}
