import { problem } from '../../../shared/problems.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'

/** The token of SpiceDB's last write as the change feed brings it. Subscribe before the feed is started. */
export interface TokenFollower {
  /**
   * The token that an answer must be at least as fresh as; undefined before the first write.
   * @throws Problem `authz_unavailable` while the feed is not confirmed: an older token would bring revoked grants back.
   */
  token(): string | undefined
}

export function followToken(changeFeed: ChangeFeed): TokenFollower {
  let token: string | undefined
  changeFeed.subscribe(
    (change) => {
      if (change.kind === 'tuples_settled') token = change.payload.zedToken
    },
    async (snapshot) => {
      const head = await snapshot.selectFrom('authz_head').select('zed_token').executeTakeFirstOrThrow()
      token = head.zed_token ?? undefined
    },
  )
  return {
    token() {
      if (!changeFeed.isFresh()) throw problem('authz_unavailable')
      return token
    },
  }
}
