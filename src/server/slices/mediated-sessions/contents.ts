import { content } from '../../sql/contents.ts'

/** A session that ended is a record. One that merely expired is part of its node's state until it is swept. */
export const contents = [content('projects', 'mediated_sessions', (row) => row('ended_at', 'is', null))]
