import { content } from '../../sql/contents.ts'

/** An invitation that was accepted or has expired is a record. */
export const contents = [
  content('domains', 'invitations', (row, now) =>
    row.and([row('accepted_at', 'is', null), row('expires_at', '>', now)]),
  ),
]
