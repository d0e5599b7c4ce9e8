import { content, type Condition } from '../../sql/contents.ts'

/** A join token that cannot be used any more is a record. */
const isUsable: Condition<'join_tokens'> = (row, now) =>
  row.and([row('revoked_at', 'is', null), row('expires_at', '>', now), row('uses', '<', row.ref('max_uses'))])

/** Whether rows of this slice keep a Domain or a Project from being deleted. */
export const contents = [content('domains', 'join_tokens', isUsable), content('projects', 'join_tokens', isUsable)]
