import { resolve } from 'node:path'
import { DEFAULT_STATE_DIR, placeOf, type Place } from '../../agent/place.ts'
import type { Session } from '../../session/session.ts'

/** The files of the agent that the flags name. The background process has another working directory. */
export function placeIn({ io }: Pick<Session, 'io'>, flags: { readonly 'state-dir'?: string }): Place {
  return placeOf(resolve(io.cwd, flags['state-dir'] ?? DEFAULT_STATE_DIR))
}
